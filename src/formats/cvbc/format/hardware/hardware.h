/* Programs use hardware, and files declare it (CVBC 14.5). hardware.def has the uses. */
#pragma once
#include "cvbc/cvbc.h"
#include "cvbc/format/hardware/board.h"
#include "cvbc/format/hardware/values.h"

enum cvbc_feature_bit {
#define FEATURE(bit, name) CVBC_FEATURE_##name = bit,
#include "cvbc/features.def"
};

/* These bits tell what a pin may be used for. */
enum cvbc_ability {
    CVBC_PIN_NONE = 0,
    CVBC_PIN_INPUT = 1,      /* the pin is made an input */
    CVBC_PIN_OUTPUT = 2,     /* it is made an output, and written */
    CVBC_PIN_READ = 4,       /* it is read; outputs may be read too */
    CVBC_PIN_PWM = 8,        /* the pin gets a duty cycle */
    CVBC_PIN_ADC = 16,       /* it is read as an analog input */
    CVBC_PIN_INTERRUPT = 32, /* it is watched for an interrupt */
    CVBC_PIN_DIRECTION = 64, /* the second argument chooses CVBC_PIN_INPUT or CVBC_PIN_OUTPUT */
};
/* These constants tell which instances a use needs. */
enum cvbc_instances {
    CVBC_INSTANCES_NONE,
    CVBC_INSTANCES_UART,
    CVBC_INSTANCES_CHANNELS,
    CVBC_INSTANCES_PORT,
    CVBC_INSTANCES_I2C,
    CVBC_INSTANCES_SPI,
};

struct cvbc_use {
    uint8_t op, pin, feature, instances;
    const char *name;
};
/* Tells whether the first argument of a use is the number of a port or bus. *kind becomes the
 * kind of bus that the use needs, or CVBC_BUS_KINDS. */
bool cvbc_use_numbered(const struct cvbc_use *use, unsigned *kind);
/* Returns the row of hardware.def for a host call, or NULL. */
const struct cvbc_use *cvbc_use_of(uint8_t op);
/* Returns the abilities that a use of a pin needs; `mode` is the second argument of pinMode. */
uint8_t cvbc_use_needs(const struct cvbc_use *use, int32_t mode);
/* Returns what a sketch does to a pin with these abilities, for messages. */
const char *cvbc_ability_name(uint8_t abilities);
/* Returns the channel of a logical pin, where A0 has channel 0, or -1. */
int cvbc_channel_of(unsigned logical);

/* The declarations below are about what a file declares. */

struct cvbc_declared {
    bool enforced, any_pin;
    uint32_t features;
    uint8_t busses[CVBC_BUS_KINDS], channels; /* masks of the metadata */
    struct {
        uint8_t abilities, port, number, function, mode;
        uint16_t record;
        bool there;
    } pins[CVBC_LOGICAL_PINS];
};
void cvbc_declared_read(const struct cvbc_metadata *m, struct cvbc_declared *out);
/* Tells whether a call uses more than the declarations allow. `reason` has at least 120 bytes. */
bool cvbc_declared_refuses(const struct cvbc_declared *d, const struct cvbc_use *use, int32_t pin,
                           int32_t mode, char *reason);

/* The declarations below are about what a program uses. */

struct cvbc_used { /* one call of the program that uses hardware */
    const struct cvbc_use *use;
    uint32_t at;
    uint32_t pins;     /* the logical pins, ports or busses that it may use, as bits */
    bool any;          /* true if it may use any pin */
    uint8_t abilities; /* what it does to the pins */
    uint8_t pull;      /* the value of pin_pull that it needs */
};
struct cvbc_uses {
    struct cvbc_used *list; /* in ascending order; cvbc_uses_free frees it */
    size_t count;
};
bool cvbc_uses_find(const struct cvbc_program *p, struct long_work *work, struct cvbc_uses *out);
void cvbc_uses_free(struct cvbc_uses *u);
/* Tells whether a use goes beyond the declarations, and why. `which` gets the pin, port or bus, or -1
 * for a use without one; it may be NULL. */
bool cvbc_used_refused(const struct cvbc_declared *d, const struct cvbc_used *u, char *reason,
                       int *which);

/* Gives the busses that a program uses, as a mask for each kind. */
void cvbc_uses_busses(const struct cvbc_uses *uses, uint8_t busses[CVBC_BUS_KINDS]);

/* Tells whether a board cannot do what a use does to a logical pin, and why. `place` is where
 * the file puts the pin, or NULL if the board maps it. */
bool cvbc_board_lacks(const struct cvbc_board *b, const struct cvbc_use *use, uint8_t abilities,
                      unsigned logical, const struct cvbc_place *place, char *reason);
/* Tells whether no pin of a board can do what a use does to a pin that is not known, and why. */
bool cvbc_board_lacks_all(const struct cvbc_board *b, const struct cvbc_use *use, uint8_t abilities,
                          char *reason);
/* Tells whether a logical pin is at the place of a bus that the program uses, and which bus. */
bool cvbc_board_taken(const struct cvbc_board *b, const uint8_t busses[CVBC_BUS_KINDS],
                      unsigned logical, const struct cvbc_place *place, char *reason);
/* Compares the uses of an opened module with a board, and reports findings of CVBC_BOARD_LACKS. */
bool cvbc_board_uses(const struct cvbc_module *m, const struct cvbc_board *b, struct findings *f);
/* Compares the uses of an opened module with its declarations, and reports findings of
 * CVBC_UNDECLARED and CVBC_PIN_UNKNOWN, or for an older file one of CVBC_NOT_ENFORCED. Returns
 * false if memory ran out, or the work of f was ended. */
bool cvbc_declarations_check(const struct cvbc_module *m, struct findings *f);
