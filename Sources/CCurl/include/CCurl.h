// SPDX-License-Identifier: GPL-2.0-or-later
//
// What Swift cannot call: the two functions of libcurl whose last argument may be of any type. The library is loaded by name
// when a server is first asked (D-31), so that nothing of it is needed to build.

#ifndef BLEWEDGE_CCURL_H
#define BLEWEDGE_CCURL_H

#include <stddef.h>

// A CURLOPT_WRITEFUNCTION: takes `size` times `count` bytes, and answers how many it took.
typedef size_t (*blewedge_curl_sink)(char *bytes, size_t size, size_t count, void *context);

// curl_easy_setopt, `set` being its address, for each type of option; all answer a CURLcode.
int blewedge_curl_set_long(void *set, void *easy, int option, long value);
int blewedge_curl_set_pointer(void *set, void *easy, int option, const void *value);
int blewedge_curl_set_sink(void *set, void *easy, int option, blewedge_curl_sink value);

// curl_easy_getinfo, `get` being its address, for a number; a CURLcode.
int blewedge_curl_get_long(void *get, void *easy, int what, long *value);

// curl_easy_option_by_name, `find` being its address: the number of an option, 0 for an unknown one. Since libcurl 7.73.
int blewedge_curl_option(void *find, const char *name);

#endif
