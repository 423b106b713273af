// SPDX-License-Identifier: GPL-2.0-or-later
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>
