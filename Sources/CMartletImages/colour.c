#include "CMartletImages.h"

#if MARTLET_IMAGE_CODECS

#if !__has_include(<lcms2.h>)
#error "The trait ImageCodecs needs Little CMS. Debian, Ubuntu: apt-get install libjpeg-dev libpng-dev libwebp-dev liblcms2-dev"
#endif

#include <stdlib.h>

#include <lcms2.h>

#include "codes.h"

/// Creates a profile from gamma and primaries; `NULL` if there are neither.
static cmsHPROFILE profile_from(const martlet_layout *layout, size_t channels) {
    int has_primaries = layout->primaries[1] && layout->primaries[3] && layout->primaries[5] && layout->primaries[7];
    if (!layout->gamma && !has_primaries) return NULL;
    // PNG stores the encoding exponent, Little CMS expects the decoding exponent. Without a gamma, use sRGB's curve.
    cmsFloat64Number srgb[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    cmsToneCurve *curve = layout->gamma ? cmsBuildGamma(NULL, 100000.0 / layout->gamma)
                                        : cmsBuildParametricToneCurve(NULL, 4, srgb);
    if (!curve) return NULL;
    cmsCIExyY white = {0.3127, 0.3290, 1};
    cmsCIExyYTRIPLE primaries = {{0.64, 0.33, 1}, {0.30, 0.60, 1}, {0.15, 0.06, 1}};
    if (has_primaries) {
        const uint32_t *xy = layout->primaries;
        white = (cmsCIExyY){xy[0] / 1e5, xy[1] / 1e5, 1};
        primaries.Red = (cmsCIExyY){xy[2] / 1e5, xy[3] / 1e5, 1};
        primaries.Green = (cmsCIExyY){xy[4] / 1e5, xy[5] / 1e5, 1};
        primaries.Blue = (cmsCIExyY){xy[6] / 1e5, xy[7] / 1e5, 1};
    }
    cmsToneCurve *curves[3] = {curve, curve, curve};
    cmsHPROFILE profile = channels <= 2 ? cmsCreateGrayProfile(cmsD50_xyY(), curve)
                                        : cmsCreateRGBProfile(&white, &primaries, curves);
    cmsFreeToneCurve(curve);
    return profile;
}

/// Returns the Little CMS format of the pixels; 0 if the profile is for another color space.
static cmsUInt32Number format_of(const martlet_layout *layout, size_t channels, cmsColorSpaceSignature space) {
    if (layout->is_cmyk) return space == cmsSigCmykData ? TYPE_CMYK_8_REV : 0;
    switch (channels) {
    case 1: return space == cmsSigGrayData ? TYPE_GRAY_8 : 0;
    case 2: return space == cmsSigGrayData ? TYPE_GRAYA_8 : 0;
    case 3: return space == cmsSigRgbData ? TYPE_RGB_8 : 0;
    case 4: return space == cmsSigRgbData ? TYPE_RGBA_8 : 0;
    default: return 0;
    }
}

int martlet_convert_to_srgb(const martlet_layout *layout, const uint8_t *pixels, size_t count, size_t channels,
                            uint8_t *result) {
    cmsHPROFILE profile;
    if (layout->code_transfer) {
        profile = martlet_profile_from_codes(layout, channels);
    } else if (layout->profile) {
        profile = cmsOpenProfileFromMem(layout->profile, (cmsUInt32Number)layout->profile_length);
    } else {
        profile = profile_from(layout, channels);
    }
    if (!profile) return 0;
    cmsUInt32Number format = format_of(layout, channels, cmsGetColorSpace(profile));
    int has_alpha = !layout->is_cmyk && (channels == 2 || channels == 4);
    cmsHPROFILE srgb = format ? cmsCreate_sRGBProfile() : NULL;
    cmsHTRANSFORM transform = NULL;
    if (srgb) {
        transform = cmsCreateTransform(profile, format, srgb, has_alpha ? TYPE_RGBA_8 : TYPE_RGB_8, INTENT_PERCEPTUAL,
                                       has_alpha ? cmsFLAGS_COPY_ALPHA : 0);
        cmsCloseProfile(srgb);
    }
    cmsCloseProfile(profile);
    if (!transform) return 0;
    size_t outgoing = has_alpha ? 4 : 3;
    while (count > 0) {
        size_t step = count < 65536 ? count : 65536;
        cmsDoTransform(transform, pixels, result, (cmsUInt32Number)step);
        pixels += step * channels;
        result += step * outgoing;
        count -= step;
    }
    cmsDeleteTransform(transform);
    return 1;
}

#endif
