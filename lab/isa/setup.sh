#!/bin/sh
# What `npm run bench -- isa` needs, under DIR: Mesa's Vulkan drivers for AMD and Intel, from Debian's packages, the stand-in for
# Intel's kernel driver, built from Mesa's source, and the two programs beside this file. Nothing is installed.
#   sh setup.sh DIR SWIFTSHADER    SWIFTSHADER: Chromium's libvk_swiftshader.so
set -e
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$1/debs" "$1/mesa" "$1/build" # an earlier one may have been cut off
mkdir -p "$1/lists/partial" "$1/cache/archives/partial" "$1/debs" "$1/root"
dir=$(cd "$1" && pwd)
. /etc/os-release
mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | head -1)
signed="[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
for kind in deb deb-src; do
  for suite in "$VERSION_CODENAME-backports" "$VERSION_CODENAME"; do echo "$kind $signed $mirror $suite main"; done
done >"$dir/sources.list"
get() { apt-get -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$dir/lists" -o Dir::Cache="$dir/cache" "$@"; }
newest() { get download -q "$1/$VERSION_CODENAME-backports" >/dev/null 2>&1 || get download -q "$1" >/dev/null; }
get update -q >/dev/null
cd "$dir/debs"
for package in mesa-vulkan-drivers mesa-libgallium libdrm2 libdrm-amdgpu1 libdrm-intel1 libdrm-radeon1 libdrm-nouveau2 meson; do newest $package; done
for deb in *.deb; do dpkg -x "$deb" ../root; done
drivers=$(dirname "$(find "$dir/root" -name libvulkan_radeon.so)")

echo "Mesa's stand-in for Intel's kernel driver is built: some minutes"
cd "$dir"
get source --download-only -q mesa >/dev/null 2>&1 || true # the source itself is enough
mkdir -p mesa && tar xf mesa_*.orig.tar.[gx]z -C mesa --strip-components 1
export PATH=/usr/bin:/bin PYTHONPATH="$dir/root/usr/lib/python3/dist-packages" # Debian's Python, which has the modules
off="-Dopengl=false -Dglx=disabled -Degl=disabled -Dgbm=disabled -Dgles1=disabled -Dgles2=disabled -Dllvm=disabled"
python3 root/usr/bin/meson setup build mesa $off -Dvulkan-drivers=[] -Dgallium-drivers=[] -Dplatforms=[] -Dtools=drm-shim,intel \
  -Dvideo-codecs= -Dvalgrind=disabled -Dlibunwind=disabled -Dbuildtype=release >/dev/null
shim=src/intel/tools/libintel_noop_drm_shim.so
ninja -C build $shim >/dev/null

cc -O1 -o isa "$here/isa.c" -lvulkan
cc -O1 -shared -fPIC -o libnopipe.so "$here/nopipe.c" -ldl
icd() { printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' "$1"; }
icd "$drivers/libvulkan_radeon.so" >amd.json
icd "$drivers/libvulkan_intel.so" >intel.json
icd "$dir/libnopipe.so" >nopipe.json
printf '{"drivers": "%s", "shim": "%s", "swiftshader": "%s"}\n' "$drivers" "$dir/build/$shim" "$2" >places.json
