# SPDX-License-Identifier: GPL-2.0-or-later
#
# What every first process of the lab's machines begins with: the kernel's own file systems, and the modules in the order the
# host wrote down. It is read by them (init.sh); $b is BusyBox.

b=/bin/busybox
$b mkdir -p /proc /sys /dev /root
$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
$b mount -t devtmpfs devtmpfs /dev
while read -r module; do
  $b insmod "/modules/$module" || echo "lab: module $module not loaded"
done </modules/order
