/* long_function.c - what .ci/sizes.sh tries its counter on; not built. */
#include <stdio.h>

static const char *const table[] = {
    "entry 00: long enough to have a line of its own, so that the table is long too",
    "entry 01: long enough to have a line of its own, so that the table is long too",
    "entry 02: long enough to have a line of its own, so that the table is long too",
    "entry 03: long enough to have a line of its own, so that the table is long too",
    "entry 04: long enough to have a line of its own, so that the table is long too",
    "entry 05: long enough to have a line of its own, so that the table is long too",
    "entry 06: long enough to have a line of its own, so that the table is long too",
    "entry 07: long enough to have a line of its own, so that the table is long too",
    "entry 08: long enough to have a line of its own, so that the table is long too",
    "entry 09: long enough to have a line of its own, so that the table is long too",
    "entry 10: long enough to have a line of its own, so that the table is long too",
    "entry 11: long enough to have a line of its own, so that the table is long too",
    "entry 12: long enough to have a line of its own, so that the table is long too",
    "entry 13: long enough to have a line of its own, so that the table is long too",
    "entry 14: long enough to have a line of its own, so that the table is long too",
    "entry 15: long enough to have a line of its own, so that the table is long too",
    "entry 16: long enough to have a line of its own, so that the table is long too",
    "entry 17: long enough to have a line of its own, so that the table is long too",
    "entry 18: long enough to have a line of its own, so that the table is long too",
    "entry 19: long enough to have a line of its own, so that the table is long too",
    "entry 20: long enough to have a line of its own, so that the table is long too",
    "entry 21: long enough to have a line of its own, so that the table is long too",
    "entry 22: long enough to have a line of its own, so that the table is long too",
    "entry 23: long enough to have a line of its own, so that the table is long too",
    "entry 24: long enough to have a line of its own, so that the table is long too",
    "entry 25: long enough to have a line of its own, so that the table is long too",
    "entry 26: long enough to have a line of its own, so that the table is long too",
    "entry 27: long enough to have a line of its own, so that the table is long too",
    "entry 28: long enough to have a line of its own, so that the table is long too",
    "entry 29: long enough to have a line of its own, so that the table is long too",
    "entry 30: long enough to have a line of its own, so that the table is long too",
    "entry 31: long enough to have a line of its own, so that the table is long too",
    "entry 32: long enough to have a line of its own, so that the table is long too",
    "entry 33: long enough to have a line of its own, so that the table is long too",
    "entry 34: long enough to have a line of its own, so that the table is long too",
    "entry 35: long enough to have a line of its own, so that the table is long too",
    "entry 36: long enough to have a line of its own, so that the table is long too",
    "entry 37: long enough to have a line of its own, so that the table is long too",
    "entry 38: long enough to have a line of its own, so that the table is long too",
    "entry 39: long enough to have a line of its own, so that the table is long too",
    "entry 40: long enough to have a line of its own, so that the table is long too",
    "entry 41: long enough to have a line of its own, so that the table is long too",
    "entry 42: long enough to have a line of its own, so that the table is long too",
    "entry 43: long enough to have a line of its own, so that the table is long too",
    "entry 44: long enough to have a line of its own, so that the table is long too",
    "entry 45: long enough to have a line of its own, so that the table is long too",
    "entry 46: long enough to have a line of its own, so that the table is long too",
    "entry 47: long enough to have a line of its own, so that the table is long too",
    "entry 48: long enough to have a line of its own, so that the table is long too",
    "entry 49: long enough to have a line of its own, so that the table is long too",
    "entry 50: long enough to have a line of its own, so that the table is long too",
    "entry 51: long enough to have a line of its own, so that the table is long too",
    "entry 52: long enough to have a line of its own, so that the table is long too",
    "entry 53: long enough to have a line of its own, so that the table is long too",
    "entry 54: long enough to have a line of its own, so that the table is long too",
    "entry 55: long enough to have a line of its own, so that the table is long too",
    "entry 56: long enough to have a line of its own, so that the table is long too",
    "entry 57: long enough to have a line of its own, so that the table is long too",
    "entry 58: long enough to have a line of its own, so that the table is long too",
    "entry 59: long enough to have a line of its own, so that the table is long too",
    "entry 60: long enough to have a line of its own, so that the table is long too",
    "entry 61: long enough to have a line of its own, so that the table is long too",
    "entry 62: long enough to have a line of its own, so that the table is long too",
    "entry 63: long enough to have a line of its own, so that the table is long too",
    "entry 64: long enough to have a line of its own, so that the table is long too",
    "entry 65: long enough to have a line of its own, so that the table is long too",
    "entry 66: long enough to have a line of its own, so that the table is long too",
    "entry 67: long enough to have a line of its own, so that the table is long too",
    "entry 68: long enough to have a line of its own, so that the table is long too",
    "entry 69: long enough to have a line of its own, so that the table is long too",
};

typedef struct long_struct {
    int field_0;
    int field_1;
    int field_2;
    int field_3;
    int field_4;
    int field_5;
    int field_6;
    int field_7;
    int field_8;
    int field_9;
    int field_10;
    int field_11;
    int field_12;
    int field_13;
    int field_14;
    int field_15;
    int field_16;
    int field_17;
    int field_18;
    int field_19;
    int field_20;
    int field_21;
    int field_22;
    int field_23;
    int field_24;
    int field_25;
    int field_26;
    int field_27;
    int field_28;
    int field_29;
    int field_30;
    int field_31;
    int field_32;
    int field_33;
    int field_34;
    int field_35;
    int field_36;
    int field_37;
    int field_38;
    int field_39;
    int field_40;
    int field_41;
    int field_42;
    int field_43;
    int field_44;
    int field_45;
    int field_46;
    int field_47;
    int field_48;
    int field_49;
    int field_50;
    int field_51;
    int field_52;
    int field_53;
    int field_54;
    int field_55;
    int field_56;
    int field_57;
    int field_58;
    int field_59;
    int field_60;
    int field_61;
    int field_62;
    int field_63;
    int field_64;
    int field_65;
    int field_66;
    int field_67;
    int field_68;
    int field_69;
} long_struct;

static int at_the_limit(int x) {
    x += 0;
    x += 1;
    x += 2;
    x += 3;
    x += 4;
    x += 5;
    x += 6;
    x += 7;
    x += 8;
    x += 9;
    x += 10;
    x += 11;
    x += 12;
    x += 13;
    x += 14;
    x += 15;
    x += 16;
    x += 17;
    x += 18;
    x += 19;
    x += 20;
    x += 21;
    x += 22;
    x += 23;
    x += 24;
    x += 25;
    x += 26;
    x += 27;
    x += 28;
    x += 29;
    x += 30;
    x += 31;
    x += 32;
    x += 33;
    x += 34;
    x += 35;
    x += 36;
    x += 37;
    x += 38;
    x += 39;
    x += 40;
    x += 41;
    x += 42;
    x += 43;
    x += 44;
    x += 45;
    x += 46;
    x += 47;
    x += 48;
    x += 49;
    x += 50;
    x += 51;
    x += 52;
    x += 53;
    x += 54;
    x += 55;
    x += 56;
    return x;
}

int over_by_one(int x) {
    x += 0;
    x += 1;
    x += 2;
    x += 3;
    x += 4;
    x += 5;
    x += 6;
    x += 7;
    x += 8;
    x += 9;
    x += 10;
    x += 11;
    x += 12;
    x += 13;
    x += 14;
    x += 15;
    x += 16;
    x += 17;
    x += 18;
    x += 19;
    x += 20;
    x += 21;
    x += 22;
    x += 23;
    x += 24;
    x += 25;
    x += 26;
    x += 27;
    x += 28;
    x += 29;
    x += 30;
    x += 31;
    x += 32;
    x += 33;
    x += 34;
    x += 35;
    x += 36;
    x += 37;
    x += 38;
    x += 39;
    x += 40;
    x += 41;
    x += 42;
    x += 43;
    x += 44;
    x += 45;
    x += 46;
    x += 47;
    x += 48;
    x += 49;
    x += 50;
    x += 51;
    x += 52;
    x += 53;
    x += 54;
    x += 55;
    x += 56;
    x += 57;
    return x;
}

static int one_line(int x) { return x + 1; }

static const struct long_struct *split_head(const struct long_struct *a, int x, int y, int z,
                                            const struct long_struct *b) { /* why */
    x += 0;
    x += 1;
    x += 2;
    x += 3;
    x += 4;
    x += 5;
    x += 6;
    x += 7;
    x += 8;
    x += 9;
    x += 10;
    x += 11;
    x += 12;
    x += 13;
    x += 14;
    x += 15;
    x += 16;
    x += 17;
    x += 18;
    x += 19;
    x += 20;
    x += 21;
    x += 22;
    x += 23;
    x += 24;
    x += 25;
    x += 26;
    x += 27;
    x += 28;
    x += 29;
    x += 30;
    x += 31;
    x += 32;
    x += 33;
    x += 34;
    x += 35;
    x += 36;
    x += 37;
    x += 38;
    x += 39;
    x += 40;
    x += 41;
    x += 42;
    x += 43;
    x += 44;
    x += 45;
    x += 46;
    x += 47;
    x += 48;
    x += 49;
    x += 50;
    x += 51;
    x += 52;
    x += 53;
    x += 54;
    x += 55;
    x += 56;
    return x > y + z ? a : b;
}
