/* sample_text.h - the front end has no business with what is emitted. */
