/**
 * Runs of fast-check in which the verdicts once differed from the model, by seed and path. Each is tried again before new
 * ones; one that was found before the worlds were changed is another run now, and harmless.
 */
export const FAILED_RUNS: readonly { readonly seed: number; readonly path: string; readonly was: string }[] = [
  { seed: 322378031, path: '5017', was: 'a snapshot that parts two cancellations was dropped from the row' },
  { seed: 1751845509, path: '181', was: 'two records that became one kept two open incidents' },
  { seed: 2073160156, path: '34097', was: 'a reading of an end that was taken back passed for the next one' },
  { seed: -2081673301, path: '19669', was: 'a note about a name that came after the look was never looked up' },
  { seed: 858779187, path: '8332', was: 'an expected change covered a cancellation that left its window' },
]
