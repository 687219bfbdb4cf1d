// blur baseline: OpenCV on the CPU, one call per stage: a weighted sum of the colours, a separable
// filter in integers, Sobel's two filters, and the length of the gradient.
//
// watch   A yardstick: after every stage, OpenCV rounds to the nearest integer where the contract
//         truncates, and it adds in another order, so some pixels differ a little. It may use all
//         cores, but in OpenCV 4.6 none of these functions uses more than one.
//         `sudo apt-get install libopencv-imgproc-dev`, then `ninja -C build baselines`.
// source  OpenCV's documentation, "Image Filtering".
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "common/cpu/cpu.hpp"
#include "labs/blur/blur.hpp"

void edges(const uchar4* rgba, unsigned char* out, unsigned char* scratch, int width, int height) {
  cv::setNumThreads(stepwise::host::thread_count());
  void* const pixels = const_cast<uchar4*>(rgba);  // cv::Mat does not support const
  const cv::Mat colours(height, width, CV_8UC4, pixels);
  cv::Mat grey(height, width, CV_8UC1, scratch), edges(height, width, CV_8UC1, out);
  cv::Mat blurred(height, width, CV_8UC1, scratch + picture_bytes(width, height));
  static thread_local cv::Mat gx, gy, length;  // kept for the next call

  const cv::Matx14f weights(0.298839f, 0.586811f, 0.114350f, 0);
  const cv::Matx<float, 1, 7> weight(1, 2, 3, 4, 3, 2, 1);
  const cv::Point middle(-1, -1);
  cv::transform(colours, grey, weights);
  cv::sepFilter2D(grey, blurred, CV_8U, weight / 16.0, weight / 16.0, middle, 0,
                  cv::BORDER_CONSTANT);
  cv::Sobel(blurred, gx, CV_32F, 1, 0, 3, 1, 0, cv::BORDER_CONSTANT);
  cv::Sobel(blurred, gy, CV_32F, 0, 1, 3, 1, 0, cv::BORDER_CONSTANT);
  cv::magnitude(gx, gy, length);
  length.convertTo(edges, CV_8U);
}
