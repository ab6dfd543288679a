import type { Connection } from '@backstop/client'
import { ProjectLink } from '../../../parts/page/index.ts'
import { CopyBox } from '../../../parts/show/index.ts'

const CLIENTS: Record<Connection['kind'], string> = {
  processor: 'stripe',
  reseller: 'paddle',
  subscription: 'chargebee',
}

interface Props {
  /** Without it the line names a client of Stripe, and leaves the id open. */
  connection?: Connection
}

/** The line of code by which a program reports what it does. */
export function ReporterLine({ connection }: Props) {
  const client = CLIENTS[connection?.kind ?? 'processor']
  const code = `import { watch } from '@backstop/client'

watch(${client}, {
  baseUrl: '${window.location.origin}',
  key: apiKey,
  connectionId: '${connection?.connection_id ?? 'con_…'}',
})`
  return (
    <>
      <CopyBox text={code} label="the line of code">
        <code className="mono" style={{ whiteSpace: 'pre-wrap' }}>
          {code}
        </code>
      </CopyBox>
      <p className="dim">
        <span className="mono">apiKey</span> needs the scope <span className="mono">operations:write</span>. The
        reporter fails no call, and lets none wait longer than 50 ms. Programs without a library of Stripe, Paddle or
        Chargebee send <span className="mono">POST /v1/operations</span>.
      </p>
      {connection === undefined && (
        <p>
          <ProjectLink page="connections">The setup of a connection has the line with its id</ProjectLink>
        </p>
      )}
    </>
  )
}
