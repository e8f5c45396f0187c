#ifndef MARTLET_CODES_H
#define MARTLET_CODES_H

#include <lcms2.h>

#include "CMartletImages.h"

/// Creates the profile for the code points of a layout; `NULL` if they are unknown.
cmsHPROFILE martlet_profile_from_codes(const martlet_layout *layout, size_t channels);

#endif
