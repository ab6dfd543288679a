/** True in `npm run test:soak`, which repeats some tests with many more cases. `npm test` proves the same with fewer. */
export const IS_SOAK = process.env.BACKSTOP_TEST_SOAK === 'yes'
