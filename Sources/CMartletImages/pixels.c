#include "CMartletImages.h"
