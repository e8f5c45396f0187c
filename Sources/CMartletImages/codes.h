#ifndef MARTLET_CODES_H
#define MARTLET_CODES_H

#include <lcms2.h>

#include "CMartletImages.h"

/// The profile that the code points of a layout stand for, `NULL` where they are not known.
cmsHPROFILE martlet_profile_from_codes(const martlet_layout *layout, size_t channels);

#endif
