import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/setup/longest-first.ts'

const exclude = ['**/node_modules/**', '**/.backstop/**']

/**
 * A test that uses all cores, and one with a deadline of two seconds. They run one after another, because other tests would be starved of
 * processor time, or delay the deadline.
 */
const aloneOnly = ['test/faults/floods.system-test.ts', 'test/launcher/killed-launcher.system-test.ts']

/** It uses all cores, and its time limit is for both of them. */
const simulation = 'test/simulation/simulation.slow-test.ts'

/**
 * A busy machine can delay a test with real servers beyond its deadline, so such a test is repeated once if it fails. The
 * report names each repeated test.
 */
const retry = 1

/** A slow test needs no servers, but takes seconds: simulations, property tests, installs. */
const integrationTests = ['**/*.integration-test.ts', '**/*.slow-test.ts']
const systemTests = 'test/**/*.system-test.ts'

/** System tests mostly wait for second looks, so many of a file run at the same time. */
const maxConcurrency = 20

const common = {
  setupFiles: ['test/setup/keep-compiled.ts'],
  // For a hang. What a test waits for has a limit of its own (`until`).
  testTimeout: 900_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 60_000 } },
}

/**
 * The kinds of tests: `unit` needs no servers, `integration` needs the stack (Kafka, MongoDB, registry, SMTP), `system`
 * also starts the whole product, `servers` is both of them, `simulation` runs hundreds of seeds, `alone` is a system test that runs by itself, `docker` needs a container engine, `mutation` removes one
 * guard after the other, and takes minutes.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Node itself imports the code, as it does in production. Vite's runner compiled each module for the run and replaced each use of an
    // import by a look-up: the unit tests took three times the processor time.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [
      // Without isolation, because importing the modules again for each file would take most of the time.
      { test: { name: 'unit', include: ['**/*.test.ts'], exclude, isolate: false, ...common } },
      {
        test: {
          name: 'integration',
          include: integrationTests,
          exclude: [...exclude, simulation],
          isolate: false,
          retry,
          ...common,
        },
      },
      { test: { name: 'simulation', include: [simulation], exclude, ...common } },
      {
        test: {
          name: 'system',
          include: [systemTests],
          exclude: [...exclude, ...aloneOnly],
          isolate: false,
          retry,
          maxConcurrency,
          ...common,
        },
      },
      {
        test: {
          // Both kinds in one project: a worker ends before a file of another project, and a start takes two seconds of processor time.
          name: 'servers',
          include: [...integrationTests, systemTests],
          exclude: [...exclude, simulation, ...aloneOnly],
          isolate: false,
          retry,
          maxConcurrency,
          ...common,
        },
      },
      { test: { name: 'alone', include: aloneOnly, exclude, retry, ...common } },
      { test: { name: 'mutation', include: ['**/*.mutation-test.ts'], exclude, testTimeout: 120_000 } },
      { test: { name: 'docker', include: ['test/**/*.docker-test.ts'], exclude } },
    ],
  },
})
