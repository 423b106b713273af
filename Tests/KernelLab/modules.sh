# SPDX-License-Identifier: GPL-2.0-or-later
#
# First commands of every first process of the lab's machines: mounts the kernel's own file systems, and loads the modules in the
# order given by the host. Sourced by init.sh; $b is BusyBox.

b=/bin/busybox
$b mkdir -p /proc /sys /dev /root
$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
$b mount -t devtmpfs devtmpfs /dev
while read -r module; do
  $b insmod "/modules/$module" || echo "lab: module $module not loaded"
done </modules/order
