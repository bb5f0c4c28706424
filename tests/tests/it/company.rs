//! Commands of several sessions in one workspace at the same time.

use loggia_domain::{EventBody, Passing, Preset};
use loggia_engine::Told;
use loggia_tests::Player;

use crate::world_with;

fn runs(line: &str) -> String {
    format!(
        "[[reply]]\nparts = [{{ call = {{ tool = \"run_command\", arguments = {{ command = '''{line}''' }} }} }}]\n"
    )
}

const SAYS: &str = "[[reply]]\nparts = [{ text = \"ran\" }]\n";

/// What the next command is told to have changed, and whether others ran beside it.
async fn changed(player: &mut Player) -> (Vec<String>, bool) {
    player
        .until_event(|event| match &event.body {
            EventBody::FilesChanged { changes, shared, .. } => {
                Some((changes.iter().map(|seen| seen.change.path.clone()).collect(), *shared))
            }
            _ => None,
        })
        .await
}

#[tokio::test]
async fn what_may_be_another_commands_work_is_said_to_be() {
    let waits = runs("echo a > a.txt; echo started; while [ ! -e go ]; do sleep 0.01; done");
    // The first one is asked for its next step last.
    let script = [&waits, &runs("echo b > b.txt"), SAYS, SAYS, &runs("echo c > c.txt"), SAYS].concat();
    let world = world_with(&[], &script).await;
    let (_, mut alice) = world.play(Preset::Full).await;
    let (_, mut bob) = world.play(Preset::Full).await;
    alice.prompt("wait").await.unwrap();
    let started = |told: &Told| match told {
        Told::Passing(passing) => matches!(&**passing, Passing::ToolOutput { .. }).then_some(()),
        _ => None,
    };
    alice.until(started).await;
    bob.prompt("write").await.unwrap();
    assert_eq!(changed(&mut bob).await, (vec!["b.txt".to_owned()], true));
    bob.until_done().await;
    std::fs::write(world.root().join("go"), "").unwrap();
    let (files, shared) = changed(&mut alice).await;
    assert!(
        shared && files.contains(&"a.txt".to_owned()) && files.contains(&"b.txt".to_owned()),
        "{files:?}"
    );
    alice.until_done().await;
    bob.prompt("write more").await.unwrap();
    assert_eq!(changed(&mut bob).await, (vec!["c.txt".to_owned()], false), "the other one is over");
}
