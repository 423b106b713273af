#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# First process of the guest: loads the modules in the order given by the host, mounts a scratch layer
# (tmpfs) over the host's root (9p, read-only), and starts the lab's agent there.
# Lines on the console are the boot log; a line that begins with "lab:" reports an error.

. /modules.sh
$b mkdir -p /lower /scratch

# All required modules are loaded. Without this, the kernel would run modprobe for each unknown name.
echo >/proc/sys/kernel/modprobe

die() {
  echo "lab: $1"
  $b poweroff -f
}

$b mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose host /lower || die "no root over 9p"
$b mount -t tmpfs -o mode=755 tmpfs /scratch || die "no tmpfs"
$b mkdir /scratch/upper /scratch/work
$b mount -t overlay -o lowerdir=/lower,upperdir=/scratch/upper,workdir=/scratch/work overlay /root || die "no overlay"
for place in proc sys dev; do
  $b mkdir -p /root/$place
  $b mount --move /$place /root/$place
done
$b mkdir -p /root/tmp /root/run /root/dev/pts
$b mount -t tmpfs -o mode=1777 tmpfs /root/tmp
$b mount -t tmpfs -o mode=755 tmpfs /root/run
$b mount -t devpts devpts /root/dev/pts
$b mount -t debugfs debugfs /root/sys/kernel/debug
$b mkdir -p /root/run/lab /root/run/host
$b mount --bind /lower /root/run/host || die "the host's root is not visible"
$b cp /lab/* /root/run/lab/

# Prepare modules as on a target: those that are not needed yet are in the standard folder, for modprobe.
unload() {
  release=$($b uname -r)
  $b mkdir -p "/root/usr/lib/modules/$release"
  $b cp /modules/*.ko "/root/usr/lib/modules/$release/"
  for module in "$@"; do $b rmmod $module; done
  # Call depmod by its path: busybox's own does not write the index files (modules.dep.bin) that modprobe and udev require.
  $b chroot /root /sbin/depmod "$release" || die "no list of modules"
  echo /sbin/modprobe >/root/proc/sys/kernel/modprobe
}

if $b grep -q systemd.unit=lab.target /root/proc/cmdline; then
  unload uhid hci_vhci bluetooth uinput evdev
  # Run the agent as a service.
  units=/root/etc/systemd/system
  printf '[Unit]\nRequires=basic.target\nWants=lab-agent.service\nAfter=basic.target\n' >$units/lab.target
  printf '[Unit]\nAfter=basic.target\n[Service]\nExecStart=/run/lab/agent\n' >$units/lab-agent.service
  # With this file from a build machine in a container, systemd would assume a container and ignore the command line.
  $b rm -f /root/.dockerenv
  exec $b switch_root /root /lib/systemd/systemd
fi

# Another init (inits.py): copy its files, and run its program, which starts the agent.
tree=$($b sed -n 's/.* lab\.tree=\([^ ]*\).*/\1/p' /root/proc/cmdline)
if [ -n "$tree" ]; then
  unload uhid uinput evdev
  # Make the changes to the host's root visible to the scenarios.
  $b mkdir /root/run/changes
  $b mount --bind /scratch/upper /root/run/changes
  # Remove the services of the build machine.
  $b rm -rf /root/usr/sbin/init /root/etc/init.d /root/.dockerenv
  $b cp -dRf "/lower$tree/." /root/ || die "no init in $tree"
  exec $b switch_root /root "$($b sed -n 's/.* lab\.init=\([^ ]*\).*/\1/p' /root/proc/cmdline)"
fi
exec $b switch_root /root /run/lab/agent
