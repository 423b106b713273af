#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs the daemon as a service without systemd. `blewedge setup` installs this script as /usr/local/sbin/blewedge-service. A
# service manager starts it as root; the daemon drops root's privileges itself.
#
#   blewedge-service run     replaces itself with the daemon, for a manager that uses exit statuses (runit)
#   blewedge-service keep    restarts the daemon whenever it ends, for other managers (OpenRC, sysvinit, BusyBox). After the
#                            exit statuses 0 (`blewedge stop`), 64 (wrong command line) and 78 (wrong configuration), it waits
#                            until it is ended; the manager then starts it again, and with it the daemon
#   blewedge-service await   waits until the daemon accepts requests, for at most 30 s
#   blewedge-service end     ends `blewedge-service keep` and the daemon

PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
kept=/run/blewedge-service.pid
pipe=/run/blewedge-service.log

# Loads the modules and sets the permissions of /dev/uinput, in case udev, mdev or a list of modules did not: only root and the
# service's user may create virtual keyboards. Stops a daemon whose `blewedge-service keep` was killed, because two daemons would
# conflict, and nothing would restart the old one.
prepare() {
  modprobe -a uinput evdev bluetooth
  chown blewedge:root /dev/uinput && chmod 600 /dev/uinput
  blewedge stop
} 2>/dev/null

# Starts the daemon in the background; its output goes to the system log, if there is one.
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
  # The last background process: the daemon, or the sleep between two daemons.
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
    # Releases the console, which init passes to the script.
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
