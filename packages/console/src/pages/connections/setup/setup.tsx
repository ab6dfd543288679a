import type { Connection } from '@backstop/client'
import { type SetupStep, setupSteps } from '@backstop/client/setup-steps'
import { ProjectLink } from '../../../parts/page/index.ts'
import { CopyBox } from '../../../parts/show/index.ts'
import { useSession } from '../../../session/session.ts'
import classes from '../connections.module.css'
import { ReadKeyForm, SecretForm } from '../secrets.tsx'
import { useShownOnce } from '../shown-once.ts'
import { FirstChannel } from './first-channel.tsx'
import { isPrivateAddress } from './private-address.ts'
import { ReporterLine } from './reporter-line.tsx'
import { type Progress, useSetupProgress } from './setup-progress.ts'

/** What completes a connection: the state of each part, the steps at the provider, and the first channel. */
export function Setup({ connection }: { connection: Connection }) {
  const progress = useSetupProgress(connection)
  const shownOnce = useShownOnce(connection.connection_id)
  return (
    <div className={classes.body}>
      <Checklist progress={progress} />
      <section>
        <h2>At the provider</h2>
        <ol className={classes.steps}>
          {setupSteps(connection, shownOnce ?? {}).map(step => (
            <Step key={step.id} step={step} connection={connection} />
          ))}
        </ol>
      </section>
      <section>
        <h2>In your software</h2>
        <p>
          Add one line next to the client of the provider that it already has. From then on each refund and cancellation
          that it makes is reported, and explained.
        </p>
        <ReporterLine connection={connection} />
      </section>
      <FirstChannel projectId={connection.project_id} />
    </div>
  )
}

function Checklist({ progress }: { progress: readonly Progress[] }) {
  const done = progress.filter(({ isDone }) => isDone).length
  return (
    <section aria-label="Setup">
      <h2>
        {done} of {progress.length} done
      </h2>
      <ol className={classes.checklist} aria-live="polite">
        {progress.map(({ id, text, detail, isDone }) => (
          <li key={id} className={classes.check} data-done={isDone || undefined}>
            <span className={classes.tick} role="img" aria-label={isDone ? 'Done' : 'Not done'}>
              {isDone && (
                <svg viewBox="0 0 12 12" aria-hidden>
                  <path d="M2 6.5 4.8 9 10 3.2" fill="none" stroke="currentColor" strokeWidth="1.8" />
                </svg>
              )}
            </span>
            <div>
              <div>{text}</div>
              <div className="dim">{detail}</div>
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}

function Step({ step, connection }: { step: SetupStep; connection: Connection }) {
  const { may } = useSession()
  const { id, text, note, copy } = step
  const hasForm = may('manage', connection.project_id)
  return (
    <li className={classes.step}>
      <div className={classes.stack}>
        <div>
          {text}
          {copy.length > 0 && note === undefined ? ':' : '.'}
        </div>
        {id === 'secret' && hasForm && connection.kind === 'processor' && <SecretForm connection={connection} />}
        {id === 'read_key' && hasForm && <ReadKeyForm connection={connection} />}
        {id === 'secret' && hasForm && connection.kind === 'subscription' && copy.length === 0 && (
          <div className="dim">
            If they are lost,{' '}
            <ProjectLink page="connections" id={connection.connection_id} search={{ tab: 'secrets' }}>
              make a new password
            </ProjectLink>
            .
          </div>
        )}
        {note !== undefined && <div className="dim">{note}</div>}
        {id === 'url' && isPrivateAddress(connection.inbound_url) && (
          <p role="alert" className={classes.notice}>
            A provider on the internet cannot reach this address. Set INGRESS_PUBLIC_URL to one that it can reach, for
            example the address of a tunnel, and start Backstop again.
          </p>
        )}
        {id === 'events' ? (
          <CopyBox text={copy.join('\n')} label="the list of events">
            <ul className={classes.events}>
              {copy.map(event => (
                <li key={event} className="mono">
                  {event}
                </li>
              ))}
            </ul>
          </CopyBox>
        ) : (
          copy.map(value => <CopyBox key={value} text={value} label={id === 'url' ? 'the URL' : value} />)
        )}
        {id === 'test' && (
          <div className="dim">It appears above within seconds; its verdict follows a minute later.</div>
        )}
      </div>
    </li>
  )
}
