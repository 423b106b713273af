// SPDX-License-Identifier: GPL-2.0-or-later

import BeaconServer
import Texts

/// The input is a response of the beacon server: the kind of request, the status and the body.
enum AnswerEntry {
    private static let scopes = RegionScope.words.compactMap { RegionScope($0) }

    static func fault(in bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let kind = input.byte()
        let answer = HTTPSClient.Answer(status: kind & 0x80 == 0 ? 200 : 500, body: input.remaining())
        switch kind % 3 {
        case 0: return regions(answer, for: scopes[Int(kind >> 2 & 7) % scopes.count])
        case 1: return isTaken { () throws(ServerFault) in try ServerAnswer.acceptance(answer) } ? refused(answer) : nil
        default:
            return isTaken { () throws(ServerFault) in _ = try ServerAnswer.validity(answer) } ? refused(answer) : nil
        }
    }

    private static func isTaken(_ body: () throws(ServerFault) -> Void) -> Bool {
        do throws(ServerFault) {
            try body()
            return true
        } catch {
            return false
        }
    }

    private static func refused(_ answer: HTTPSClient.Answer) -> String? {
        answer.status == 200 ? nil : "an answer of status \(answer.status) was taken"
    }

    /// Checks that the accepted regions match the request and are unique, and that encoding and parsing preserves them.
    private static func regions(_ answer: HTTPSClient.Answer, for scope: RegionScope) -> String? {
        guard let found = try? ServerAnswer.regions(answer, for: scope) else { return nil }
        guard !found.isEmpty, found.count <= 10_000 else { return "\(found.count) regions" }
        guard Set(found.map(\.region)).count == found.count else { return "a region twice" }
        guard found.allSatisfy(scope.covers) else { return "a region that is none of \(scope)" }
        let name = found.compactMap(\.name).first { name in
            !(1...64).contains(name.unicodeScalars.count)
                || name.unicodeScalars.contains { $0.properties.generalCategory == .control }
        }
        if name != nil { return "a name that is too long, or has a control character" }
        var written = JSONObject()
        written.add("regions", found.map(\.members))
        let again = HTTPSClient.Answer(status: 200, body: Array(written.text.utf8))
        guard let read = try? ServerAnswer.regions(again, for: scope), read == found else {
            return "what was written is read as something else"
        }
        return refused(answer)
    }
}
