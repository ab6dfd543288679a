/** The tests of the console that share one product. The tests of each file have a project of their own. */
import { afterAll, beforeAll } from 'vitest'
import './actors.tests.ts'
import './channels.tests.ts'
import './connections.tests.ts'
import './disturbances.tests.ts'
import './frame.tests.ts'
import './incidents.tests.ts'
import './money.tests.ts'
import './paper.tests.ts'
import { closeSharedConsole, openSharedConsole } from './shared-console.ts'

beforeAll(openSharedConsole)
afterAll(closeSharedConsole)
