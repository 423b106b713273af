// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc

/// A shared library that is loaded when it is first needed, and whose functions are found by name.
///
/// It stays loaded: unloading gains nothing.
@safe
package struct LoadedLibrary {
    /// The reason for which a library or one of its functions is not there.
    package struct Failure: Error, Equatable, Sendable {
        /// The description, as the loader gives it.
        package var reason: String

        package init(_ reason: String) { self.reason = reason }
    }

    /// False in the fully static form of the program, which has no loader.
    package static var isPossible: Bool { blewedge_loads_libraries() }

    private let handle: UnsafeMutableRawPointer

    /// Loads the library of that file name, which the loader looks for where libraries lie (C: `dlopen`).
    package init(_ fileName: String) throws(Failure) {
        // Sound: the loader's text is copied before the next call of it.
        guard let handle = unsafe dlopen(fileName, RTLD_NOW | RTLD_LOCAL) else {
            let reason = unsafe dlerror().map { unsafe String(cString: $0) }
            throw Failure(reason ?? fileName)
        }
        unsafe self.handle = handle
    }

    /// The function of that name; whoever calls it gives it the type that the library's header has (C: `dlsym`).
    @unsafe
    package func function(_ name: String) throws(Failure) -> UnsafeMutableRawPointer {
        // Sound: the handle is that of a library that is never unloaded.
        guard let function = unsafe dlsym(handle, name) else {
            throw Failure("it has no function \(name)")
        }
        return unsafe function
    }
}
