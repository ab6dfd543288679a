import { dockerIsUsable, startDockerStack } from './docker-stack.ts'
import { startEmbeddedStack } from './embedded-stack.ts'
import { givenUrls, VARIABLE_OF } from './given-urls.ts'
import {
  PART_NAMES,
  type PartHandle,
  type PartName,
  type RunningStack,
  StackError,
  type StackOptions,
  type StackUrls,
} from './stack-contract.ts'

/**
 * Starts the parts that Backstop needs. URLs given in the environment are used; the other parts run in Docker if an
 * engine runs, otherwise as processes of this machine. Resolves when every part is ready.
 * @throws StackError with the remedy
 */
export async function startStack(options: StackOptions): Promise<RunningStack> {
  const asked = PART_NAMES.filter(name => options.only === undefined || options.only.includes(name))
  const given = givenUrls(options.env)
  const toStart = asked.filter(name => !given.parts.includes(name))
  const parts = Object.fromEntries(
    PART_NAMES.map(name => [name, absentPart(name, given.parts.includes(name))]),
  ) as Record<PartName, PartHandle>
  const urls: StackUrls = { kafka: '', mongo: '', registry: '', smtp: '', mail: '', ...given.urls }
  if (toStart.length === 0) return { urls, kind: 'given', parts, stop: async () => {} }
  const docker = (await dockerIsUsable(options.env)) ? await startInDocker(toStart, options) : undefined
  const started = docker ?? (await startEmbeddedStack(toStart, options))
  return {
    urls: { ...urls, ...started.urls },
    kind: docker ? 'docker' : 'embedded',
    parts: { ...parts, ...started.parts },
    stop: started.stop,
  }
}

/**
 * Starts the parts in Docker. Returns undefined if the engine lacks the images and cannot download them: the parts then
 * run as processes of this machine.
 */
async function startInDocker(names: readonly PartName[], options: StackOptions) {
  try {
    return await startDockerStack(names, options)
  } catch (error) {
    const step = options.log.step('Docker')
    step.fail(`not used: ${error instanceof Error ? error.message : String(error)}`, '')
    return undefined
  }
}

/** The handle of a part that this stack did not start: it refuses every action. */
function absentPart(name: PartName, given: boolean): PartHandle {
  const refuse = (): never => {
    throw given
      ? new StackError(
          `${name} was given by ${VARIABLE_OF[name]}: this stack cannot stop it`,
          `Unset ${VARIABLE_OF[name]} and start again`,
        )
      : new StackError(`${name} is not part of this stack`, 'Name it in `only`')
  }
  return {
    pid: undefined,
    adopted: given,
    lastLogLines: () => [],
    kill: refuse,
    restart: async () => refuse(),
    stop: async () => refuse(),
  }
}
