#include <stdio.h>
#include <stdlib.h>
int main(void) {
    puts("allowed here");
    exit(0);
}
