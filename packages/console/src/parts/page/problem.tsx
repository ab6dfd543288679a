import { ApiProblem, NoAnswer } from '@backstop/client'
import { Button } from '@mantine/core'
import { CopyId } from '../show/copy-id.tsx'
import classes from './problem.module.css'

interface Props {
  /** Nothing is shown without one. */
  error: Error | null
  /** What failed, as a sentence without a full stop. */
  what: string
  retry?: () => void
}

/** An error where its data would be: what failed, why, the id of the request, and a button that tries again. */
export function Problem({ error, what, retry }: Props) {
  if (error === null) return null
  return (
    <div className={classes.problem} role="alert">
      <p className={classes.what}>{what}</p>
      <p className="dim">{describe(error, retry === undefined)}</p>
      {error instanceof ApiProblem && error.errors.length > 0 && (
        <ul>
          {error.errors.map(({ path, message }) => (
            <li key={path}>
              <span className="mono">{path}</span> {message}
            </li>
          ))}
        </ul>
      )}
      {error instanceof ApiProblem && error.request_id !== undefined && (
        <p className="faint">
          Request <CopyId id={error.request_id} />
        </p>
      )}
      {retry !== undefined && (
        <Button variant="default" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** @param isChange true for something that a person wanted to change */
function describe(error: Error, isChange: boolean): string {
  if (error instanceof NoAnswer && !navigator.onLine) {
    return isChange ? 'No network. It is not sent later by itself: try again when the network is back.' : 'No network.'
  }
  if (error instanceof NoAnswer) return 'Backstop does not answer. Check your network, or whether admin-api runs.'
  return error.message
}
