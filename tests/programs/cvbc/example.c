/* This is the loader from the document of the format, unchanged except for the added main. */
// C API for CVBC validation
#include "cvbc_format.h"

bool validate_and_load_program(const char *filename)
{
    FILE *f = fopen(filename, "rb");
    if (!f) return false;

    // Read entire file
    fseek(f, 0, SEEK_END);
    size_t file_size = ftell(f);
    rewind(f);

    uint8_t *file_data = malloc(file_size);
    fread(file_data, 1, file_size, f);
    fclose(f);

    // Validate format
    if (!cvbc_validate_format(file_data, file_size)) {
        free(file_data);
        return false;
    }

    // Extract hardware requirements for template generation
    cvbc_hardware_requirements_t hw_req;
    if (!cvbc_extract_hardware_requirements(file_data, &hw_req)) {
        free(file_data);
        return false;
    }

    // Validate hardware compatibility
    if (!validate_hardware_compatibility(&hw_req)) {
        free(file_data);
        return false;
    }

    // Load and execute program
    load_vm_program(file_data);
    free(file_data);
    return true;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!validate_and_load_program(argv[i])) {
            printf("%s: refused, %s\n", argv[i], cvbc_status_name(cvbc_last_status()));
            return 1;
        }
    return argc < 2;
}
