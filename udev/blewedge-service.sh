#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The keyboard as a service where systemd is not the first process; `blewedge setup` installs it as
# /usr/local/sbin/blewedge-service. A service manager starts it as root, and the keyboard drops root's rights by itself.
#
#   blewedge-service run     becomes the keyboard, for a manager that is told how a service ended (runit)
#   blewedge-service keep    starts the keyboard anew whenever it ends, for one that is not (OpenRC, sysvinit, BusyBox). After
#                            the exit statuses 0 (`blewedge stop`), 64 (wrong command line) and 78 (wrong configuration) it
#                            rests until it is ended: the manager then starts it, and with it the keyboard, again
#   blewedge-service await   waits until the keyboard can be asked, for half a minute
#   blewedge-service end     ends what keeps the keyboard, and the keyboard with it

PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
kept=/run/blewedge-service.pid
pipe=/run/blewedge-service.log

# What the keyboard needs and a udev rule, mdev.conf or a list of modules may not have given: root and the service's user make
# virtual keyboards, nobody else. A keyboard that was left alone when what kept it was killed is ended: two would be in each
# other's way, and nobody would see how that one ends.
prepare() {
  modprobe -a uinput evdev bluetooth
  chown blewedge:root /dev/uinput && chmod 600 /dev/uinput
  blewedge stop
} 2>/dev/null

# The keyboard in the background; what it says goes to the system's log where there is one.
begin() {
  if command -v logger >/dev/null && rm -f "$pipe" && mkfifo -m 600 "$pipe"; then
    logger -t blewedge <"$pipe" &
    blewedge run --user blewedge </dev/null >"$pipe" 2>&1 &
  else
    blewedge run --user blewedge </dev/null &
  fi
}

finish() {
  trap '' TERM INT HUP
  # The last one that was begun: the keyboard, or what waits between two.
  kill "$!" 2>/dev/null && wait "$!"
  rm -f "$kept" "$pipe"
  exit 0
}

case ${1-} in
  run)
    prepare
    exec blewedge run --user blewedge </dev/null
    ;;
  keep)
    # Init gives it the console, which is no terminal of its.
    exec </dev/null >/dev/null 2>&1
    mkdir -p "${kept%/*}"
    echo $$ >"$kept"
    trap finish TERM INT HUP
    while :; do
      prepare
      begin
      wait "$!"
      case $? in
        0 | 64 | 78) sleep 2147483647 & ;;
        *) sleep 1 & ;;
      esac
      wait "$!"
    done
    ;;
  await)
    seconds=30
    until [ -S /run/blewedge/control ]; do
      seconds=$((seconds - 1))
      if [ "$seconds" -eq 0 ]; then
        echo "the keyboard was not started; the system's log may say why" >&2
        exit 75
      fi
      sleep 1
    done
    ;;
  end)
    pid=$(cat "$kept" 2>/dev/null) || exit 0
    kill "$pid" 2>/dev/null
    while kill -0 "$pid" 2>/dev/null; do sleep 1; done
    ;;
  *)
    echo "usage: blewedge-service run | keep | await | end" >&2
    exit 64
    ;;
esac
