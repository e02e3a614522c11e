package littlecoder

import (
	"testing"

	"interpreter/harness/harnesstest"
)

func TestHarness(t *testing.T) { harnesstest.Run(t, Harness) }

func TestSize(t *testing.T) { harnesstest.Fits(t, Harness, 6000) }
