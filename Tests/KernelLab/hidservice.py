# SPDX-License-Identifier: GPL-2.0-or-later
#
# A HID keyboard as an application of bluetoothd: a GATT application, an advertisement and a pairing agent over D-Bus. It runs in
# a machine of its own, with the distribution's Python (python3-dbus, python3-gi).
#
#     hidservice.py NAME REPORTMAP     the report map in hexadecimal digits, with a keyboard as report 1
#
# Standard output: one JSON object for each event, {"event":…}:
#     registered   what            "agent", "application" or "advertisement"
#     unregistered what            "advertisement"
#     authorized   device          a central that pairs
#     notifying    on              bluetoothd asks for reports, or no longer
#     device       name, value     Connected, Paired, Bonded or ServicesResolved of a central has changed
#     sent         reports         number of reports passed to bluetoothd so far
#     error        text
# Standard input: one JSON object for each command:
#     {"send": [report, …]}        notifies the reports, in hexadecimal digits
#     {"advertise": true}          registers the advertisement; false: unregisters it
#     {"disconnect": true}         disconnects all centrals

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

BLUEZ = "org.bluez"
ADAPTER, DEVICE = "org.bluez.Adapter1", "org.bluez.Device1"
GATT_MANAGER, ADVERTISING_MANAGER = "org.bluez.GattManager1", "org.bluez.LEAdvertisingManager1"
SERVICE, CHARACTERISTIC, DESCRIPTOR = (f"org.bluez.Gatt{kind}1" for kind in ("Service", "Characteristic", "Descriptor"))
ADVERTISEMENT, AGENT, AGENT_MANAGER = "org.bluez.LEAdvertisement1", "org.bluez.Agent1", "org.bluez.AgentManager1"
PROPERTIES, OBJECT_MANAGER = "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.ObjectManager"
ROOT = "/lab"

HID, BATTERY = "1812", "180f"
APPEARANCE = 0x03C1  # keyboard
INPUT, OUTPUT = 1, 2  # report types in a report reference
TOLD = ("Connected", "Paired", "Bonded", "ServicesResolved")


def say(event: str, **fields: object) -> None:
    print(json.dumps({"event": event, **fields}), flush=True)


def failed(what: str) -> Callable[[Exception], None]:
    return lambda error: say("error", text=f"{what}: {error}")


def octets(value: bytes) -> dbus.Array:
    return dbus.Array([dbus.Byte(octet) for octet in value], signature="y")


class Described(dbus.service.Object):  # type: ignore[misc]
    """An object with properties that do not change."""

    def __init__(self, bus: dbus.Bus, path: str, interface: str, properties: dict[str, Any]) -> None:
        super().__init__(bus, path)
        self.path = dbus.ObjectPath(path)
        self.interface = interface
        self.properties = properties

    @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
    def GetAll(self, _interface: str) -> dict[str, Any]:
        return self.properties


class Value(Described):
    """A characteristic or descriptor that keeps the value written to it."""

    def __init__(self, bus: dbus.Bus, path: str, interface: str, parent: Described, uuid: str, flags: str, value: bytes) -> None:
        owner = "Service" if interface == CHARACTERISTIC else "Characteristic"
        properties = {"UUID": uuid, owner: parent.path, "Flags": dbus.Array(flags.split(), signature="s")}
        super().__init__(bus, path, interface, properties)
        self._value = value

    def read(self, options: dict[str, Any]) -> dbus.Array:
        return octets(self._value[int(options.get("offset", 0)) :])


class Characteristic(Value):
    @dbus.service.method(CHARACTERISTIC, in_signature="a{sv}", out_signature="ay")
    def ReadValue(self, options: dict[str, Any]) -> dbus.Array:
        return self.read(options)

    @dbus.service.method(CHARACTERISTIC, in_signature="aya{sv}")
    def WriteValue(self, value: dbus.Array, _options: dict[str, Any]) -> None:
        self._value = bytes(value)

    @dbus.service.method(CHARACTERISTIC)
    def StartNotify(self) -> None:
        say("notifying", on=True)

    @dbus.service.method(CHARACTERISTIC)
    def StopNotify(self) -> None:
        say("notifying", on=False)

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface: str, changed: dict[str, Any], invalidated: list[str]) -> None:
        pass

    def notify(self, value: bytes) -> None:
        """Passes a value to bluetoothd, which queues it without a limit."""
        self.PropertiesChanged(CHARACTERISTIC, {"Value": octets(value)}, dbus.Array([], signature="s"))


class Descriptor(Value):
    @dbus.service.method(DESCRIPTOR, in_signature="a{sv}", out_signature="ay")
    def ReadValue(self, options: dict[str, Any]) -> dbus.Array:
        return self.read(options)


class Application(dbus.service.Object):  # type: ignore[misc]
    """The services of the keyboard. bluetoothd adds a configuration descriptor to each characteristic that notifies."""

    def __init__(self, bus: dbus.Bus, report_map: bytes) -> None:
        super().__init__(bus, ROOT)
        self._bus = bus
        self._objects: list[Described] = []
        battery = self._service(BATTERY)
        self._characteristic(battery, "2a19", "encrypt-read", bytes([87]))
        hid = self._service(HID)
        self._characteristic(hid, "2a4e", "encrypt-read write-without-response", b"\x01")
        found = self._characteristic(hid, "2a4b", "encrypt-read", report_map)
        self._descriptor(found, "2907", bytes.fromhex("192a"))
        self.keys = self._characteristic(hid, "2a4d", "encrypt-read encrypt-notify", bytes(8))
        self._descriptor(self.keys, "2908", bytes([1, INPUT]))
        lights = self._characteristic(hid, "2a4d", "encrypt-read encrypt-write write-without-response", bytes(1))
        self._descriptor(lights, "2908", bytes([1, OUTPUT]))
        self._characteristic(hid, "2a4a", "encrypt-read", bytes.fromhex("11010001"))
        self._characteristic(hid, "2a4c", "write-without-response", b"")

    def _path(self) -> str:
        return f"{ROOT}/object{len(self._objects)}"

    def _service(self, uuid: str) -> Described:
        found = Described(self._bus, self._path(), SERVICE, {"UUID": uuid, "Primary": dbus.Boolean(True)})
        self._objects.append(found)
        return found

    def _characteristic(self, service: Described, uuid: str, flags: str, value: bytes) -> Characteristic:
        found = Characteristic(self._bus, self._path(), CHARACTERISTIC, service, uuid, flags, value)
        self._objects.append(found)
        return found

    def _descriptor(self, characteristic: Described, uuid: str, value: bytes) -> None:
        self._objects.append(Descriptor(self._bus, self._path(), DESCRIPTOR, characteristic, uuid, "encrypt-read", value))

    @dbus.service.method(OBJECT_MANAGER, out_signature="a{oa{sa{sv}}}")
    def GetManagedObjects(self) -> dict[str, Any]:
        return {found.path: {found.interface: found.properties} for found in self._objects}


class Advertisement(Described):
    @dbus.service.method(ADVERTISEMENT)
    def Release(self) -> None:
        say("unregistered", what="advertisement")


class Agent(dbus.service.Object):  # type: ignore[misc]
    """An agent without input and output, which accepts every central."""

    @dbus.service.method(AGENT, in_signature="o")
    def RequestAuthorization(self, device: str) -> None:
        say("authorized", device=device)

    @dbus.service.method(AGENT, in_signature="os")
    def AuthorizeService(self, device: str, uuid: str) -> None:
        pass

    @dbus.service.method(AGENT)
    def Cancel(self) -> None:
        pass

    @dbus.service.method(AGENT)
    def Release(self) -> None:
        pass


def objects(bus: dbus.Bus) -> dict[str, Any]:
    """Returns the objects of bluetoothd; none if it has not started."""
    try:
        found: dict[str, Any] = dbus.Interface(bus.get_object(BLUEZ, "/"), OBJECT_MANAGER).GetManagedObjects()
    except dbus.DBusException:
        return {}
    return found


def adapter_of(bus: dbus.Bus) -> str:
    """Returns the path of the adapter; empty if there is none."""
    managers = {GATT_MANAGER, ADVERTISING_MANAGER}
    return next((path for path, interfaces in objects(bus).items() if managers <= set(interfaces)), "")


class Keyboard:
    """The application on the adapter of bluetoothd."""

    def __init__(self, bus: dbus.Bus, adapter: str, name: str, report_map: bytes) -> None:
        self._bus = bus
        self._sent = 0
        self._adapter = bus.get_object(BLUEZ, adapter)
        self._application = Application(bus, report_map)
        self._advertisement = Advertisement(bus, f"{ROOT}/advertisement", ADVERTISEMENT, {
            "Type": "peripheral", "ServiceUUIDs": dbus.Array([HID], signature="s"), "LocalName": name,
            "Appearance": dbus.UInt16(APPEARANCE), "Discoverable": dbus.Boolean(True),
        })  # fmt: skip
        bus.add_signal_receiver(self._on_change, "PropertiesChanged", PROPERTIES, BLUEZ, arg0=DEVICE, path_keyword="path")
        for property_name, value in (("Powered", dbus.Boolean(True)), ("Alias", name), ("Pairable", dbus.Boolean(True))):
            self._adapter.Set(ADAPTER, property_name, value, dbus_interface=PROPERTIES)
        self._agent = Agent(bus, f"{ROOT}/agent")
        agents = dbus.Interface(bus.get_object(BLUEZ, "/org/bluez"), AGENT_MANAGER)
        agents.RegisterAgent(f"{ROOT}/agent", "NoInputNoOutput")
        agents.RequestDefaultAgent(f"{ROOT}/agent")
        say("registered", what="agent")
        # bluetoothd reads the objects before it answers.
        self._adapter.RegisterApplication(
            ROOT, {}, dbus_interface=GATT_MANAGER,
            reply_handler=lambda: say("registered", what="application"), error_handler=failed("RegisterApplication"),
        )  # fmt: skip

    def _on_change(self, _interface: str, changed: dict[str, Any], _invalidated: list[str], path: str) -> None:
        for name in TOLD:
            if name in changed:
                say("device", device=path, name=name, value=bool(changed[name]))

    def advertise(self, on: bool) -> None:
        manager = dbus.Interface(self._adapter, ADVERTISING_MANAGER)
        path = self._advertisement.path
        if on:
            manager.RegisterAdvertisement(
                path, {}, reply_handler=lambda: say("registered", what="advertisement"),
                error_handler=failed("RegisterAdvertisement"),
            )  # fmt: skip
        else:
            manager.UnregisterAdvertisement(path)
            say("unregistered", what="advertisement")

    def send(self, reports: list[str]) -> None:
        for report in reports:
            self._application.keys.notify(bytes.fromhex(report))
        self._bus.flush()
        self._sent += len(reports)
        say("sent", reports=self._sent)

    def disconnect(self) -> None:
        for path, interfaces in objects(self._bus).items():
            if interfaces.get(DEVICE, {}).get("Connected"):
                device = dbus.Interface(self._bus.get_object(BLUEZ, path), DEVICE)
                device.Disconnect(reply_handler=lambda: None, error_handler=failed("Disconnect"))

    def obey(self, line: str) -> None:
        command = json.loads(line)
        if "send" in command:
            self.send(command["send"])
        if "advertise" in command:
            self.advertise(command["advertise"])
        if "disconnect" in command:
            self.disconnect()


class Main:
    """Starts the keyboard as soon as bluetoothd has an adapter, and executes the commands."""

    def __init__(self, bus: dbus.Bus, name: str, report_map: bytes) -> None:
        self._bus = bus
        self._name = name
        self._report_map = report_map
        self._keyboard: Keyboard | None = None
        self._loop = GLib.MainLoop()
        bus.add_signal_receiver(lambda *_: self._start(), "InterfacesAdded", OBJECT_MANAGER)
        self._start()

    def _start(self) -> None:
        if self._keyboard is None and (adapter := adapter_of(self._bus)):
            self._keyboard = Keyboard(self._bus, adapter, self._name, self._report_map)

    def _read(self, channel: GLib.IOChannel, _condition: GLib.IOCondition) -> bool:
        line = channel.readline()
        if not line:
            self._loop.quit()
            return False
        if self._keyboard is not None:
            self._keyboard.obey(line)
        return True

    def run(self) -> None:
        conditions = GLib.IOCondition.IN | GLib.IOCondition.HUP
        GLib.io_add_watch(GLib.IOChannel.unix_new(sys.stdin.fileno()), GLib.PRIORITY_DEFAULT, conditions, self._read)
        self._loop.run()


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
Main(dbus.SystemBus(), sys.argv[1], bytes.fromhex(sys.argv[2])).run()
