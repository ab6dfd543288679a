/**
 * Runs of fast-check, by seed and path, in which the verdicts once differed from the model. They are repeated before
 * new runs. After a change of the generators an entry stands for another run, which is harmless.
 */
export const FAILED_RUNS: readonly { readonly seed: number; readonly path: string; readonly was: string }[] = [
  { seed: 322378031, path: '5017', was: 'a snapshot that parts two cancellations was dropped from the row' },
  { seed: 1751845509, path: '181', was: 'two records that became one kept two open incidents' },
  { seed: 2073160156, path: '34097', was: 'a reading of an end that was taken back passed for the next one' },
  { seed: -2081673301, path: '19669', was: 'a note about a name that came after the look was never looked up' },
  {
    seed: 2,
    path: '4057',
    was: 'an expired authorization used a part of the amount of the operation on its credit note',
  },
  { seed: 858779187, path: '8332', was: 'an expected change covered a cancellation that left its window' },
]
