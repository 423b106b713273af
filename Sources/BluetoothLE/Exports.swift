// SPDX-License-Identifier: GPL-2.0-or-later
//
// Re-exports the types of other modules that the public declarations of this module use, so that an application needs
// only one import. No other declarations of those modules become visible.

@_exported public import enum BluetoothAdapters.AdapterTransport
@_exported public import enum BluetoothAdapters.BluetoothError
@_exported public import enum BluetoothAdapters.BluetoothState
@_exported public import enum BluetoothAdapters.DisconnectReason
@_exported public import enum BluetoothAdapters.H4Address
@_exported public import struct BluetoothAdapters.SimulatedCast
@_exported public import enum BluetoothHost.AdapterSelector
@_exported public import struct BluetoothHost.AdvertisementLayout
@_exported public import struct BluetoothHost.Bond
@_exported public import struct BluetoothHost.DeviceTable
@_exported public import struct BluetoothHost.DiscoveredDevice
@_exported public import enum BluetoothHost.GATTAccess
@_exported public import struct BluetoothHost.GATTCharacteristic
@_exported public import struct BluetoothHost.GATTCharacteristicDefinition
@_exported public import struct BluetoothHost.GATTCharacteristicProperties
@_exported public import struct BluetoothHost.GATTDatabaseBuilder
@_exported public import enum BluetoothHost.GATTDatabaseError
@_exported public import struct BluetoothHost.GATTDescriptor
@_exported public import struct BluetoothHost.GATTDescriptorDefinition
@_exported public import enum BluetoothHost.GATTError
@_exported public import struct BluetoothHost.GATTExtendedProperties
@_exported public import struct BluetoothHost.GATTIncludedService
@_exported public import struct BluetoothHost.GATTLinkSecurity
@_exported public import struct BluetoothHost.GATTServer
@_exported public import struct BluetoothHost.GATTServerDatabase
@_exported public import enum BluetoothHost.GATTServerError
@_exported public import struct BluetoothHost.GATTService
@_exported public import struct BluetoothHost.GATTServiceDefinition
@_exported public import enum BluetoothHost.GATTSubscriptionKind
@_exported public import enum BluetoothHost.GATTValueSource
@_exported public import struct BluetoothHost.LongTermKey
@_exported public import struct BluetoothHost.ManagedPairing
@_exported public import struct BluetoothHost.ManufacturerAddressField
@_exported public import struct BluetoothHost.ScanFilter
@_exported public import struct BluetoothPackets.ATTError
@_exported public import struct BluetoothPackets.ATTOpcode
@_exported public import enum BluetoothPackets.AddressType
@_exported public import struct BluetoothPackets.AdvertisementData
@_exported public import struct BluetoothPackets.AttributeHandle
@_exported public import struct BluetoothPackets.AttributeHandleRange
@_exported public import struct BluetoothPackets.BluetoothAddress
@_exported public import struct BluetoothPackets.BluetoothUUID
@_exported public import struct BluetoothPackets.ControllerIndex
@_exported public import struct BluetoothPackets.DeviceAddress
@_exported public import struct BluetoothPackets.LocalName
@_exported public import struct BluetoothPackets.ManagementOpcode
@_exported public import struct BluetoothPackets.ManagementStatus
@_exported public import struct BluetoothPackets.ScanParameters
