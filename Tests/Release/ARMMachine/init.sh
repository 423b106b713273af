#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# First process of the emulated ARM machine: loads the modules in the order given by the host, mounts the machine's disk, and starts
# the lab's agent there. The folder shared by the host is at /srv, read-only; the lab's programs are in /run/lab.
# A line on the console that begins with "lab:" reports an error.

. /modules.sh

die() {
  echo "lab: $1"
  $b poweroff -f
}

$b mount -t ext4 /dev/vda /root || die "no disk"
for place in proc sys dev; do
  $b mount --move /$place /root/$place
done
$b mkdir -p /root/dev/pts /root/dev/shm
$b ln -s /proc/self/fd /root/dev/fd
$b mount -t devpts -o ptmxmode=666 devpts /root/dev/pts
$b mount -t tmpfs -o mode=1777 tmpfs /root/tmp
$b mount -t tmpfs -o mode=755 tmpfs /root/run
$b mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose host /root/srv || die "no folder of the host's"
$b mkdir /root/run/lab
$b cp /lab/* /root/run/lab/
# The disk has no kernel modules. Do not run modprobe for unknown names.
echo >/root/proc/sys/kernel/modprobe
exec $b switch_root /root /run/lab/agent
