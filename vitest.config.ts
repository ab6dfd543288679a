import { defineConfig } from 'vitest/config'

const exclude = ['**/node_modules/**', '**/.backstop/**']

/** What compares times, and what keeps every core busy: beside other tests the one would measure those, the other starve them. */
const aloneOnly = [
  'test/faults/bulkhead.system-test.ts',
  'test/faults/election.system-test.ts',
  'test/faults/floods.system-test.ts',
  'test/faults/dependencies-away.system-test.ts',
  'test/faults/dead-providers.system-test.ts',
  'test/faults/unanswered-looks.system-test.ts',
  'test/launcher/killed-launcher.system-test.ts',
]

/**
 * Kinds of test: `unit` needs nothing, `integration` the stack, `system` the stack and the whole product, `alone` the same
 * with nothing beside it, `docker` a container engine.
 */
/**
 * Where real servers and a minute's wait are part of a test, a machine that is short of time can starve any of them. One
 * second try, which the report names; what fails twice has failed.
 */
const retry = 1

export default defineConfig({
  test: {
    projects: [
      // Nothing outside is touched, so the files share their workers: most of the time would go into importing anew.
      { test: { name: 'unit', include: ['**/*.test.ts'], exclude, isolate: false, testTimeout: 30_000 } },
      {
        test: {
          name: 'integration',
          // A slow test needs nothing either, but seconds: simulations, searches for counterexamples, installs.
          include: ['**/*.integration-test.ts', '**/*.slow-test.ts'],
          exclude,
          retry,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/**/*.system-test.ts'],
          exclude: [...exclude, ...aloneOnly],
          retry,
          // They mostly wait for minutes to pass, so they wait together.
          maxConcurrency: 20,
          testTimeout: 300_000,
          hookTimeout: 240_000,
        },
      },
      { test: { name: 'alone', include: aloneOnly, exclude, retry, testTimeout: 300_000, hookTimeout: 120_000 } },
      { test: { name: 'docker', include: ['test/**/*.docker-test.ts'], exclude } },
    ],
  },
})
