#include "CMartletImages.h"

#include <math.h>
#include <stddef.h>

// Color spaces as code points (ITU-T H.273, 8.1 and 8.2).

/// The chromaticities of white, red, green and blue, each as x and y.
typedef struct {
    uint8_t code;
    double xy[8];
} code_primaries;

static const code_primaries known_primaries[] = {
    {1, {0.3127, 0.3290, 0.640, 0.330, 0.300, 0.600, 0.150, 0.060}},
    {5, {0.3127, 0.3290, 0.640, 0.330, 0.290, 0.600, 0.150, 0.060}},
    {6, {0.3127, 0.3290, 0.630, 0.340, 0.310, 0.595, 0.155, 0.070}},
    {7, {0.3127, 0.3290, 0.630, 0.340, 0.310, 0.595, 0.155, 0.070}},
    {9, {0.3127, 0.3290, 0.708, 0.292, 0.170, 0.797, 0.131, 0.046}},
    {11, {0.3140, 0.3510, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060}},
    {12, {0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060}},
};

static const code_primaries *primaries_of(uint8_t code) {
    for (size_t i = 0; i < sizeof known_primaries / sizeof known_primaries[0]; i++) {
        if (known_primaries[i].code == code) return &known_primaries[i];
    }
    return NULL;
}

int martlet_knows_code_points(uint8_t primaries, uint8_t transfer) {
    if (!primaries_of(primaries)) return 0;
    switch (transfer) {
    case 1: case 4: case 5: case 6: case 8: case 13: case 14: case 15: case 16: case 18: return 1;
    default: return 0;
    }
}

#if MARTLET_IMAGE_CODECS

#include "codes.h"

/// The luminance of diffuse white in HDR pictures, in cd/m2 (ITU-R BT.2408).
static const double reference_white = 203;

/// The PQ curve (SMPTE ST 2084), as linear light in which 1 is diffuse white.
static double light_of_pq(double value) {
    double m1 = 2610.0 / 16384, m2 = 2523.0 / 4096 * 128, c1 = 3424.0 / 4096, c2 = 2413.0 / 4096 * 32,
           c3 = 2392.0 / 4096 * 32;
    double power = pow(value, 1 / m2);
    return pow(fmax(power - c1, 0) / (c2 - c3 * power), 1 / m1) * 10000 / reference_white;
}

/// The HLG curve (ITU-R BT.2100) for a display of 1000 cd/m2, as linear light in which 1 is diffuse white.
static double light_of_hlg(double value) {
    double a = 0.17883277, b = 1 - 4 * a, c = 0.5 - a * log(4 * a);
    double scene = value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12;
    // The display's transfer function applies to the luminance of a pixel. Applying it per channel is a good
    // approximation.
    return pow(scene, 1.2) * 1000 / reference_white;
}

/// Converts an encoded value from 0 to 1 to linear light.
static double light_of(uint8_t transfer, double value) {
    double beta = 0.018053968510807, alpha = 1 + 5.5 * beta;
    switch (transfer) {
    case 4: return pow(value, 2.2);
    case 5: return pow(value, 2.8);
    case 8: return value;
    case 13: return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
    case 16: return light_of_pq(value);
    case 18: return light_of_hlg(value);
    default: return value < 4.5 * beta ? value / 4.5 : pow((value + alpha - 1) / alpha, 1 / 0.45);
    }
}

static cmsToneCurve *curve_of(const martlet_layout *layout) {
    // 16 steps between adjacent 8-bit values.
    enum { count = 255 * 16 + 1 };
    cmsUInt16Number values[count];
    for (int i = 0; i < count; i++) {
        double value = i / (count - 1.0);
        if (layout->is_narrow) value = fmin(fmax((value * 255 - 16) / 219, 0), 1);
        // Clip values above white.
        values[i] = (cmsUInt16Number)lround(fmin(light_of(layout->code_transfer, value), 1) * 65535);
    }
    return cmsBuildTabulatedToneCurve16(NULL, count, values);
}

cmsHPROFILE martlet_profile_from_codes(const martlet_layout *layout, size_t channels) {
    const code_primaries *primaries = primaries_of(layout->code_primaries);
    cmsToneCurve *curve = primaries ? curve_of(layout) : NULL;
    if (!curve) return NULL;
    const double *xy = primaries->xy;
    cmsCIExyY white = {xy[0], xy[1], 1};
    cmsCIExyYTRIPLE colors = {{xy[2], xy[3], 1}, {xy[4], xy[5], 1}, {xy[6], xy[7], 1}};
    cmsToneCurve *curves[3] = {curve, curve, curve};
    cmsHPROFILE profile = channels <= 2 ? cmsCreateGrayProfile(cmsD50_xyY(), curve)
                                        : cmsCreateRGBProfile(&white, &colors, curves);
    cmsFreeToneCurve(curve);
    return profile;
}

#endif
