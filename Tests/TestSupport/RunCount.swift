// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// How often a test repeats itself.
public enum RunCount {
    /// The number in the environment variable `name`, where there is one, else `usual`.
    public static func from(_ name: String, usual: Int) -> Int {
        // The C string is copied at once.
        getenv(name).flatMap { Int(String(cString: $0)) } ?? usual
    }

    /// True when the compiler optimizes, so that ten times as much can be had in the same time.
    public static var isOptimized: Bool {
        #if DEBUG
            false
        #else
            true
        #endif
    }
}
