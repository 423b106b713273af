// SPDX-License-Identifier: GPL-2.0-or-later

#include "CTOML.h"

// toml++ 3.3 checks some malformed texts, such as "[[[", by assertions only. They throw here instead of ending the
// program.
#undef NDEBUG
#include <stdexcept>
#define TOML_ASSERT(expression) \
    ((expression) ? static_cast<void>(0) : throw std::logic_error("it is malformed in a way that the reader has no name for"))

#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cstring>

namespace {

struct Walk {
    void *context;
    void (*take)(void *, const ctoml_item *);

    void end() const {
        ctoml_item item{};
        item.kind = CTOML_END;
        take(context, &item);
    }

    void visit(std::string_view key, toml::source_position place, const toml::node &node) const {
        ctoml_item item{};
        item.line = place.line;
        item.key = key.data();
        item.key_length = key.size();
        if (const auto *table = node.as_table()) {
            item.kind = CTOML_TABLE;
            take(context, &item);
            for (const auto &[name, value] : *table) visit(name.str(), name.source().begin, value);
            end();
            return;
        }
        if (const auto *array = node.as_array()) {
            item.kind = CTOML_ARRAY;
            take(context, &item);
            for (const auto &value : *array) visit({}, value.source().begin, value);
            end();
            return;
        }
        item.kind = CTOML_OTHER;
        if (const auto *text = node.as_string()) {
            item.kind = CTOML_STRING;
            item.text = text->get().data();
            item.text_length = text->get().size();
        } else if (const auto *number = node.as_integer()) {
            item.kind = CTOML_INTEGER;
            item.number = number->get();
        } else if (const auto *flag = node.as_boolean()) {
            item.kind = CTOML_BOOLEAN;
            item.number = flag->get() ? 1 : 0;
        }
        take(context, &item);
    }
};

void describe(ctoml_fault *fault, std::string_view reason, toml::source_position place) {
    const size_t count = std::min(reason.size(), sizeof fault->reason - 1);
    std::memcpy(fault->reason, reason.data(), count);
    fault->reason[count] = '\0';
    fault->line = place.line;
    fault->column = place.column;
}

}  // namespace

extern "C" bool ctoml_read(const char *bytes, size_t length, void *context,
                           void (*take)(void *context, const ctoml_item *item), ctoml_fault *fault) {
    // No exception may leave this function, whose callers are C.
    try {
        const toml::table table = toml::parse(std::string_view(bytes, length));
        const Walk walk{context, take};
        walk.visit({}, {}, table);
        return true;
    } catch (const toml::parse_error &error) {
        const std::string_view reason = error.description();
        // The library's words for a text without quotes do not say what to do.
        const bool is_bare = reason.find("could not determine value type") != reason.npos;
        describe(fault, is_bare ? "a text needs quotes, and anything else is a number, true or false" : reason,
                 error.source().begin);
    } catch (const std::exception &error) {
        describe(fault, error.what(), {});
    }
    return false;
}
