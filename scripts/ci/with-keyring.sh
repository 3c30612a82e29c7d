#!/bin/bash
# Runs a command in a session whose keyring is open, as a login opens it.
set -euo pipefail

echo -n 'password of the runner' | gnome-keyring-daemon --daemonize --login --components=secrets
"$@"
