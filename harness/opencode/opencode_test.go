package opencode

import (
	"testing"

	"interpreter/harness/harnesstest"
)

func TestHarness(t *testing.T) { harnesstest.Run(t, Harness) }

func TestSize(t *testing.T) { harnesstest.Fits(t, Harness, 12000) }
