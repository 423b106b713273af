#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""libinput's classification of input devices: `inputclass.py NODE...` in the guest, while udev runs.

Prints one JSON object with the capabilities that libinput assigns to each node: {"/dev/input/event3": ["keyboard"], ...}.
"""

import ctypes
import json
import os
import sys

CAPABILITIES = ("keyboard", "pointer", "touch", "tablet tool", "tablet pad", "gesture", "switch")  # enum libinput_device_capability
OPEN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p)
CLOSE = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)


class Interface(ctypes.Structure):
    """C type: struct libinput_interface."""

    _fields_ = [("open", OPEN), ("close", CLOSE)]


interface = Interface(OPEN(lambda path, flags, _: os.open(path, flags)), CLOSE(lambda number, _: os.close(number)))
library = ctypes.CDLL("libinput.so.10")
library.libinput_path_create_context.restype = ctypes.c_void_p
library.libinput_path_add_device.restype = ctypes.c_void_p
library.libinput_path_add_device.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
library.libinput_device_has_capability.argtypes = [ctypes.c_void_p, ctypes.c_int]
context = library.libinput_path_create_context(ctypes.byref(interface), None)
found = {}
for node in sys.argv[1:]:
    device = library.libinput_path_add_device(context, node.encode())
    if not device:
        sys.exit(f"libinput takes {node} for nothing")
    found[node] = [name for number, name in enumerate(CAPABILITIES) if library.libinput_device_has_capability(device, number)]
print(json.dumps(found))
