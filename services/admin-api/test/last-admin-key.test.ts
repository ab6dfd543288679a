import { openMemoryWorld } from './admin-world.ts'
import { describeLastAdminKey } from './contract/last-admin-key.contract.ts'

describeLastAdminKey('memory', openMemoryWorld)
