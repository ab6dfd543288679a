/** Settings for fast-check: the same cases on every run, unless the environment sets another seed. */
const SEED = 2
/** `npm run test:soak` tries this many times as many cases. */
const SOAK_FACTOR = process.env.BACKSTOP_TEST_SOAK === 'yes' ? 5 : 1

/** `PROPERTY_SEED` is another seed, `PROPERTY_RUNS` another number of cases. */
export function propertySettings(runs: number): { readonly seed: number; readonly numRuns: number } {
  return { seed: numberIn('PROPERTY_SEED') ?? SEED, numRuns: numberIn('PROPERTY_RUNS') ?? runs * SOAK_FACTOR }
}

function numberIn(name: string): number | undefined {
  const text = process.env[name] ?? ''
  if (text === '') return undefined
  if (!/^-?\d+$/.test(text)) throw new Error(`${name} must be a whole number, not ${JSON.stringify(text)}`)
  return Number(text)
}
