// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension VirtualRadio {
    /// Carries out the due action of a link: its end, a change of its parameters, or a connection event.
    func perform(_ link: Link) {
        guard link.isWhole else {
            return end(link, link.isEstablished ? .connectionTimeout : .connectionFailedToBeEstablished)
        }
        if let deadline = link.requestDeadline, deadline <= now {
            return end(link, .linkLayerResponseTimeout)
        }
        if let update = link.update, update.instant <= now {
            link.apply(update.parameters, at: update.instant)
            for role in [ConnectionRole.central, .peripheral] {
                link[role].controller.emitUpdate(handle: link[role].handle, .success, link.parameters)
            }
            return
        }
        exchange(link)
    }

    /// Ends a link on both sides, or the one that is left, for the same reason.
    private func end(_ link: Link, _ reason: HCIStatus) {
        for role in [ConnectionRole.central, .peripheral] where link[role].isAlive {
            link.kill(role, now: now)
            link[role].controller.emitDisconnection(handle: link[role].handle, reason: reason)
        }
    }

    /// A connection event: each side sends its waiting data, the central first.
    private func exchange(_ link: Link) {
        link.noteExchange(at: now)
        var completed: [ConnectionRole: Int] = [:]
        for role in [ConnectionRole.central, .peripheral] {
            completed[role] = sendData(link, from: role)
        }
        for role in [ConnectionRole.central, .peripheral] {
            link[role].controller.emitCompleted(handle: link[role].handle, count: completed[role] ?? 0)
        }
        for role in [ConnectionRole.central, .peripheral] {
            let operations = link[role].operations
            link[role].operations = []
            for operation in operations where link.isWhole { perform(operation, link, role) }
        }
        if link.isWhole, link.hasWork { link.wake(now: now) }
    }

    /// Sends waiting data one way, as far as the event's length and the receiver's room go; returns how many of the
    /// host's packets are done.
    private func sendData(_ link: Link, from role: ConnectionRole) -> Int {
        let receiver = link[role.other]
        var room = max(1, Int(link[role].controller.configuration.packetsPerEvent))
        var completed = 0
        while let packet = link[role].queue.first {
            var fragments = packet.fragments[...]
            while room > 0, !receiver.controller.isCongested, let fragment = fragments.first {
                fragments = fragments.dropFirst()
                room -= 1
                receiver.controller.deliver(fragment, handle: receiver.handle)
            }
            guard fragments.isEmpty else {
                link[role].queue[0].fragments = Array(fragments)
                break
            }
            link[role].queue.removeFirst()
            completed += 1
        }
        return completed
    }

    /// Carries out a procedure that one side has begun.
    private func perform(_ operation: Link.Operation, _ link: Link, _ role: ConnectionRole) {
        let end = link[role]
        let other = link[role.other]
        switch operation {
        case .readVersion: end.controller.emitRemoteVersion(handle: end.handle, of: other.controller)
        case .readFeatures: end.controller.emitRemoteFeatures(handle: end.handle, of: other.controller)
        case .update(var parameters):
            // The controller chooses within the host's range: the longest interval.
            parameters.minimumInterval = parameters.maximumInterval
            link.update = Link.Update(parameters: parameters, instant: link.instant(after: now))
        case .requestUpdate(let parameters):
            guard link.update == nil else {
                return end.controller.emitUpdate(handle: end.handle, .linkLayerCollision, link.parameters)
            }
            if other.controller.emitParameterRequest(handle: other.handle, parameters) {
                link.isHostAsked = true
                link.requestDeadline = now + Link.procedureTimeout
            } else {
                end.controller.emitUpdate(handle: end.handle, .unsupportedRemoteFeature, link.parameters)
            }
        case .rejectUpdate(let reason):
            other.controller.emitUpdate(handle: other.handle, reason, link.parameters)
        case .encrypt(let key, let random, let diversifier):
            beginEncryption(link, key, random: random, diversifier: diversifier)
        case .startEncryption(let key): startEncryption(link, key)
        case .terminate(let reason):
            link.kill(role, now: now)
            link.kill(role.other, now: now)
            end.controller.emitDisconnection(handle: end.handle, reason: .connectionTerminatedByLocalHost)
            other.controller.emitDisconnection(handle: other.handle, reason: reason)
        }
    }

    /// The peripheral's host is asked for the key (LL_ENC_REQ).
    private func beginEncryption(_ link: Link, _ key: UInt128, random: UInt64, diversifier: UInt16) {
        link.encryption = Link.Encryption(key: key)
        let end = link.peripheral
        if end.controller.emitKeyRequest(handle: end.handle, random: random, diversifier: diversifier) {
            link.encryption?.isAsked = true
        } else {
            startEncryption(link, nil)
        }
    }

    /// With the same key at both ends the link is encrypted; with two, the first packet's integrity check fails.
    private func startEncryption(_ link: Link, _ key: UInt128?) {
        guard let wanted = link.encryption?.key else { return }
        link.encryption = nil
        guard let key else {
            let status = HCIStatus.keyMissing
            return link.central.controller.emitEncryption(handle: link.central.handle, status, isRefresh: false)
        }
        guard key == wanted else { return end(link, .integrityFailure) }
        let isRefresh = link.isEncrypted
        link.isEncrypted = true
        for role in [ConnectionRole.central, .peripheral] {
            link[role].controller.emitEncryption(handle: link[role].handle, .success, isRefresh: isRefresh)
        }
    }
}

extension HCIStatus {
    /// Both sides began a procedure of the link layer that exclude each other (0x23).
    static let linkLayerCollision = HCIStatus(rawValue: 0x23)
    /// The other side has no key (0x06).
    static let keyMissing = HCIStatus(rawValue: 0x06)
    /// A packet's integrity check was wrong (0x3D).
    static let integrityFailure = HCIStatus(rawValue: 0x3D)
}
