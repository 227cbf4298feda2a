/* Sends any bytes as commands of a host to the command loop of the device, which runs in this
 * process. The loop must end and write only complete responses. */
#include "fuzz.h"
#include "gpu/child/device.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    struct device device;
    struct channel channel;
    struct writer answers = {0};
    if (!device_init(&device, -1)) return;
    device.wait_cap = 1;
    device.fuel_cap = 1 << 14;
    device.memory_cap = device.memory.limit = device.settings.memory_limit = 1 << 20;
    device.settings.transfer_limit = 1 << 20;
    channel_init_memory(&channel, ROLE_DEVICE, (penta_bytes){data, size}, &answers);
    device_serve(&device, &channel);
    device_fini(&device);
    penta_bytes left = writer_view(&answers);
    while (left.size) {
        if (left.size < wire_response_bytes) check_failed("a cut response", left.size, 0);
        uint64_t body = bytes_get64(left.data + 1);
        if (left.data[0] >= GPU_ERR_DEVICE_LOST)
            check_failed("no status of a device", left.data[0], 0);
        if (body > left.size - wire_response_bytes) check_failed("a cut body", body, left.size);
        left = bytes_slice(left, wire_response_bytes + (size_t)body, left.size);
    }
    writer_free(&answers);
}
