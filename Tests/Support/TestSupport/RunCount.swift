// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// The number of repetitions of a test.
public enum RunCount {
    /// The number in the environment variable `name`; `usual` without it.
    public static func from(_ name: String, usual: Int) -> Int {
        // The C string is copied at once.
        getenv(name).flatMap { Int(String(cString: $0)) } ?? usual
    }

    /// True in an optimised build, in which ten times as many repetitions take the same time: not by an emulator
    /// (`BLEWEDGE_EMULATED`).
    public static var isOptimized: Bool {
        #if DEBUG
            false
        #else
            getenv("BLEWEDGE_EMULATED") == nil
        #endif
    }
}
