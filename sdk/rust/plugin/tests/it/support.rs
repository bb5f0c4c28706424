//! A host of lines.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::thread::JoinHandle;

use loggia_plugin_kit::{Plugin, serve};

/// What a plugin says to these lines, until its input ends.
pub(crate) fn talk(plugin: fn() -> Plugin, lines: &str) -> String {
    let mut host = Host::new(plugin);
    host.say(lines);
    host.end()
}

/// A host that talks while the plugin works.
pub(crate) struct Host {
    input: PipeWriter,
    output: BufReader<PipeReader>,
    served: JoinHandle<std::io::Result<()>>,
}

impl Host {
    pub(crate) fn new(plugin: fn() -> Plugin) -> Self {
        let (reader, input) = std::io::pipe().unwrap();
        let (output, writer) = std::io::pipe().unwrap();
        // A plugin need not be able to move to another thread, so it is made where it works.
        let served = std::thread::spawn(move || serve(plugin(), BufReader::new(reader), writer));
        Self { input, output: BufReader::new(output), served }
    }

    pub(crate) fn say(&mut self, lines: &str) {
        for line in lines.lines() {
            self.input.write_all(format!("{line}\n").as_bytes()).unwrap();
        }
    }

    pub(crate) fn hear(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Waits until the plugin has left.
    pub(crate) fn served(self) {
        self.served.join().unwrap().unwrap();
    }

    /// Closes the plugin's input; all it still says.
    pub(crate) fn end(mut self) -> String {
        drop(self.input);
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.output, &mut rest).unwrap();
        self.served.join().unwrap().unwrap();
        rest.trim_end().to_owned()
    }
}
