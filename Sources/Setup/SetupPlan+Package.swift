// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import ServiceFiles
package import Texts

// Where a package of the system has installed the service, its files, its user and its help are the package's. What is left
// to setup is the radio, the timer of a server of beacons, and what an earlier setup has written.
extension SetupPlan {
    /// What is said beside the steps.
    package static func notes(_ facts: SetupFacts, isRemoving: Bool) -> [Message] {
        guard facts.isPackaged else {
            return isRemoving || facts.manager != nil ? [] : [SetupText.noManager.message()]
        }
        if isRemoving { return [SetupText.packageStays.message()] }
        let isShadowed = ServiceFile.all.contains { facts.files[$0.path] != nil }
        return [SetupText.packaged.message()] + (isShadowed ? [SetupText.shadowing.message()] : [])
    }

    /// The commands that lead from here to the first typed character.
    package static func nextSteps(_ facts: SetupFacts) -> Message {
        let commands = FirstSteps.commands(hasManager: facts.manager != nil).filter { $0 != FirstSteps.setup }
        return SetupText.next.message(Message.listed(commands.map { Message(detail: "`\($0)`") }))
    }

    /// The steps for the manual page and the completions whose readers are there.
    static func help(_ facts: SetupFacts) -> [SetupStep] {
        guard !facts.isPackaged else { return [] }
        return facts.help.filter { facts.programs[$0.reader.rawValue] != nil && facts.files[$0.reader.path] != $0.text }
            .map { .write(path: $0.reader.path, text: $0.text, isNew: facts.files[$0.reader.path] == nil) }
    }

    /// The step for the package's timer: it runs where a server of beacons is configured, and nowhere else.
    static func packagedServer(_ facts: SetupFacts, _ systemctl: String) -> [SetupStep] {
        guard facts.hasServer != facts.isTimerEnabled else { return [] }
        return [.run([systemctl, facts.hasServer ? "enable" : "disable", "--now", timer], mayFail: !facts.hasServer)]
    }
}
