import { MESSAGES, type MessageName } from '@backstop/contracts'
import { AppError } from '../src/errors.ts'
import { createCodec, type MessageCodec } from '../src/registry/message-codec.ts'
import { createSchemaRegistry } from '../src/registry/schema-registry.ts'

/** A codec with fixed schema ids and no registry, for simulation and unit tests. */
export function createFixedCodec(): MessageCodec {
  const names = Object.keys(MESSAGES) as MessageName[]
  const registry = createSchemaRegistry('http://nowhere.invalid', async () => {
    throw new AppError('not_found', 'Unknown schema')
  })
  const own = new Map(names.map((name, index) => [name, index + 1]))
  return createCodec({ registry, own, recall: async () => [] })
}
