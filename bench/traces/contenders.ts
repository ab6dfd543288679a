/** The settings of each contender. A receiver of the benchmark gets the spans. */
export const CONTENDERS = [
  { name: 'off', ratio: undefined },
  { name: '1 %', ratio: 0.01 },
  { name: '100 %', ratio: 1 },
] as const
export type TraceContender = (typeof CONTENDERS)[number]

/** The reading, and the targets for it. */
export const READING = 'processor time for one'
export const TARGETS = [{ reading: READING, of: '1 %', against: 'off', is: 'at most', value: 1.03 }] as const
