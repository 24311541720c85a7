/* The wire reader: what it reads, and that it stops at what is not protobuf. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "compiler/frontend/onnx/wire.h"

static infc_wire open_text(const char *bytes, size_t n) {
    return infc_wire_open((infc_bytes){(const uint8_t *)bytes, n});
}
#define OPEN(text) open_text(text, sizeof(text) - 1)

static void fields(void **state) {
    (void)state;
    infc_wire wire = OPEN("\x08\x96\x01" /* field 1: 150 */
                          "\x12\x03"     /* field 2: "abc" */
                          "abc"
                          "\x1d\x00\x00\x80\x3f"     /* field 3: 1.0f */
                          "\x21\x01\0\0\0\0\0\0\x80" /* field 4: 2^63 + 1 */
                          "\xf8\xff\xff\xff\x0f\0"); /* field 2^29 - 1: 0 */
    infc_wire_field field;
    assert_true(infc_wire_next(&wire, &field));
    assert_int_equal(field.number, 1);
    assert_int_equal(field.value, 150);
    assert_true(infc_wire_next(&wire, &field));
    assert_int_equal(field.type, INFC_WIRE_BYTES);
    assert_int_equal(field.bytes.len, 3);
    assert_memory_equal(field.bytes.ptr, "abc", 3);
    assert_true(infc_wire_next(&wire, &field));
    assert_int_equal(field.value, 0x3f800000);
    assert_true(infc_wire_next(&wire, &field));
    assert_true(field.value == (UINT64_C(1) << 63) + 1);
    assert_true(infc_wire_next(&wire, &field));
    assert_int_equal(field.number, (1 << 29) - 1);
    assert_false(infc_wire_next(&wire, &field));
    assert_null(wire.error);
}

static void varints(void **state) {
    (void)state;
    uint64_t value;
    infc_wire largest = OPEN("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    assert_true(infc_wire_varint(&largest, &value));
    assert_true(value == UINT64_MAX);
    infc_wire padded = OPEN("\x81\x80\x80\x00");
    assert_true(infc_wire_varint(&padded, &value));
    assert_int_equal(value, 1);
    infc_wire over = OPEN("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02");
    assert_false(infc_wire_varint(&over, &value));
    assert_non_null(over.error);
}

static void refuse(const char *bytes, size_t n, const char *why) {
    infc_wire wire = open_text(bytes, n);
    infc_wire_field field;
    while (infc_wire_next(&wire, &field)) continue;
    assert_non_null(wire.error);
    assert_non_null(strstr(wire.error, why));
    assert_false(infc_wire_next(&wire, &field)); /* and it stays so */
}
#define REFUSE(text, why) refuse(text, sizeof(text) - 1, why)

static void damaged(void **state) {
    (void)state;
    REFUSE("\x08", "cut off");
    REFUSE("\x08\x80", "cut off");
    REFUSE("\x1d\0\0\0", "cut off");
    REFUSE("\x21\0\0\0\0\0\0\0", "cut off");
    REFUSE("\x12", "cut off");
    REFUSE("\x12\x04"
           "abc",
           "longer than what holds it");
    REFUSE("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "longer than what holds it");
    REFUSE("\x0b\x0c", "group");
    REFUSE("\x0c", "group");
    REFUSE("\x0e\x01", "group");
    REFUSE("\x00\x01", "out of range");
    REFUSE("\x80\x80\x80\x80\x10\x01", "out of range");
}

static void repeated(void **state) {
    (void)state;
    /* Field 1 packed: 1, 300, -1; field 1 alone: 7. */
    infc_wire wire = OPEN("\x0a\x0d\x01\xac\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x08\x07");
    int64_t values[8] = {0};
    size_t count = 0, n = 0;
    infc_wire_field field;
    while (infc_wire_next(&wire, &field)) {
        assert_true(infc_wire_count(&field, INFC_WIRE_VARINT, &count));
        infc_wire_append(&field, INFC_WIRE_VARINT, values, &n);
    }
    assert_null(wire.error);
    assert_int_equal(count, 4);
    assert_int_equal(n, 4);
    assert_int_equal(values[1], 300);
    assert_int_equal(values[2], -1);
    assert_int_equal(values[3], 7);
}

static void repeated_damaged(void **state) {
    (void)state;
    infc_wire_field field;
    size_t count = 0;
    infc_wire cut = OPEN("\x0a\x02\x01\x80");
    assert_true(infc_wire_next(&cut, &field));
    assert_false(infc_wire_count(&field, INFC_WIRE_VARINT, &count));
    infc_wire odd = OPEN("\x0a\x05\0\0\0\0\0");
    assert_true(infc_wire_next(&odd, &field));
    assert_false(infc_wire_count(&field, INFC_WIRE_FIXED32, &count));
    infc_wire other = OPEN("\x08\x01");
    assert_true(infc_wire_next(&other, &field));
    assert_false(infc_wire_count(&field, INFC_WIRE_FIXED32, &count));
    assert_int_equal(count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields),   cmocka_unit_test(varints),          cmocka_unit_test(damaged),
        cmocka_unit_test(repeated), cmocka_unit_test(repeated_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
