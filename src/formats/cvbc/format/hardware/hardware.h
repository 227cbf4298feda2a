/* The hardware that a program uses, declares and may use (CVBC 14.5). hardware.def has the uses. */
#pragma once
#include "cvbc/cvbc.h"
#include "cvbc/format/hardware/board.h"
#include "cvbc/format/hardware/values.h"

enum cvbc_feature_bit {
#define FEATURE(bit, name) CVBC_FEATURE_##name = bit,
#include "cvbc/features.def"
};

/* What a pin may be used for, as bits. */
enum cvbc_ability {
    CVBC_PIN_NONE = 0,
    CVBC_PIN_INPUT = 1,      /* made an input */
    CVBC_PIN_OUTPUT = 2,     /* made an output, and written */
    CVBC_PIN_READ = 4,       /* read: inputs, and outputs too */
    CVBC_PIN_PWM = 8,        /* given a duty cycle */
    CVBC_PIN_ADC = 16,       /* read as an analog input */
    CVBC_PIN_INTERRUPT = 32, /* watched */
    CVBC_PIN_DIRECTION = 64, /* CVBC_PIN_INPUT or CVBC_PIN_OUTPUT, as the second argument says */
};
/* The instances of a use. */
enum cvbc_instances {
    CVBC_INSTANCES_NONE,
    CVBC_INSTANCES_UART,
    CVBC_INSTANCES_CHANNELS,
    CVBC_INSTANCES_PORT
};

struct cvbc_use {
    uint8_t op, pin, feature, instances;
    const char *name;
};
/* The row of a host call, or NULL. */
const struct cvbc_use *cvbc_use_of(uint8_t op);
/* The abilities that a use of a pin needs; `mode` is the second argument of pinMode. */
uint8_t cvbc_use_needs(const struct cvbc_use *use, int32_t mode);
/* What a sketch does to a pin of these abilities, for messages. */
const char *cvbc_ability_name(uint8_t abilities);
/* The channel of a logical pin, A0 being 0, or -1. */
int cvbc_channel_of(unsigned logical);

/* ---- what a file declares ---- */

struct cvbc_declared {
    bool enforced, any_pin;
    uint32_t features;
    uint8_t uarts, channels; /* masks of the metadata */
    struct {
        uint8_t abilities, port, number, function, mode;
        uint16_t record;
        bool there;
    } pins[CVBC_LOGICAL_PINS];
};
void cvbc_declared_read(const struct cvbc_metadata *m, struct cvbc_declared *out);
/* Tells whether a call goes beyond the declarations. `reason` has at least 120 bytes. */
bool cvbc_declared_refuses(const struct cvbc_declared *d, const struct cvbc_use *use, int32_t pin,
                           int32_t mode, char *reason);

/* ---- what a program uses ---- */

struct cvbc_used { /* one call */
    const struct cvbc_use *use;
    uint32_t at;
    uint32_t pins;     /* the logical pins, or ports, that it may use, as bits */
    bool any;          /* it may use any pin */
    uint8_t abilities; /* what it does to them */
    uint8_t pull;      /* the pin_pull that it wants */
};
struct cvbc_uses {
    struct cvbc_used *list; /* ascending; cvbc_uses_free */
    size_t count;
};
bool cvbc_uses_find(const struct cvbc_program *p, struct long_work *work, struct cvbc_uses *out);
void cvbc_uses_free(struct cvbc_uses *u);
/* Tells whether a use goes beyond the declarations, and why. */
bool cvbc_used_refused(const struct cvbc_declared *d, const struct cvbc_used *u, char *reason);

/* Tells whether a board cannot do what a use does to a logical pin, and why. `place` is where the file puts the pin, or
 * NULL where the board maps it. */
bool cvbc_board_lacks(const struct cvbc_board *b, const struct cvbc_use *use, uint8_t abilities,
                      unsigned logical, const struct cvbc_place *place, char *reason);
/* Compares the uses of an opened module with a board: findings of CVBC_BOARD_LACKS. */
bool cvbc_board_uses(const struct cvbc_module *m, const struct cvbc_board *b, struct findings *f);
/* Compares the uses of an opened module with its declarations: findings of CVBC_UNDECLARED, CVBC_PIN_UNKNOWN, or of an
 * older file one CVBC_NOT_ENFORCED. False: no memory, or the work of f was ended. */
bool cvbc_declarations_check(const struct cvbc_module *m, struct findings *f);
