// SPDX-License-Identifier: GPL-2.0-or-later

#include "CCurl.h"

// CURLcode curl_easy_setopt(CURL *, CURLoption, ...) and curl_easy_getinfo(CURL *, CURLINFO, ...); enumerations are int.
typedef int (*curl_variadic)(void *easy, int what, ...);

// struct curl_easyoption of <curl/options.h>, as far as it is read.
struct curl_option {
    const char *name;
    int number;
};
typedef const struct curl_option *(*curl_finder)(const char *name);

int blewedge_curl_set_long(void *set, void *easy, int option, long value) {
    return ((curl_variadic)set)(easy, option, value);
}

int blewedge_curl_set_pointer(void *set, void *easy, int option, const void *value) {
    return ((curl_variadic)set)(easy, option, value);
}

int blewedge_curl_set_sink(void *set, void *easy, int option, blewedge_curl_sink value) {
    return ((curl_variadic)set)(easy, option, value);
}

int blewedge_curl_get_long(void *get, void *easy, int what, long *value) {
    return ((curl_variadic)get)(easy, what, value);
}

int blewedge_curl_option(void *find, const char *name) {
    const struct curl_option *option = ((curl_finder)find)(name);
    return option ? option->number : 0;
}
