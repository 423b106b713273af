// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// The number of repetitions of a test.
public enum RunCount {
    /// Returns the number in the environment variable `name`, or `usual` if it is not set.
    public static func from(_ name: String, usual: Int) -> Int {
        // The C string is copied immediately.
        getenv(name).flatMap { Int(String(cString: $0)) } ?? usual
    }

    /// True in an optimized build that is not emulated (`BLEWEDGE_EMULATED`): it completes ten times as many
    /// repetitions in the same time.
    public static var isOptimized: Bool {
        #if DEBUG
            false
        #else
            getenv("BLEWEDGE_EMULATED") == nil
        #endif
    }
}
