import type { IncidentWithTimeline } from '@backstop/client'
import classes from './incident.module.css'

/** What to do now about an incident or a storm, in the words of the dashboard of this provider. */
export function NextSteps({
  incident: { next_steps, state },
}: {
  incident: Pick<IncidentWithTimeline, 'next_steps' | 'state'>
}) {
  if (next_steps == null || state === 'resolved') return null
  return (
    <section className={classes.section}>
      <h2>What to do</h2>
      <p className={classes.sentence} dir="auto">
        {next_steps.sentence}
      </p>
      <ol className={classes.steps}>
        {next_steps.steps.map(step => (
          <li key={step} dir="auto">
            {step}
          </li>
        ))}
      </ol>
    </section>
  )
}
